// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus/internal/longtest"
)

// TestAccessible checks every page for assistive technology and keyboards: the browser's accessibility tree, landmarks,
// headings, labels, contrast in both colour schemes, and visible focus. The short run tests one width; the long run
// also tests the width of a phone, and presses Tab through each page.
func TestAccessible(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "tests of single pages look at their colours and use the keyboard")
	inTabs(t, map[string]func(*tab){"every page is for everyone": isAccessible})
}

func isAccessible(tab *tab) {
	tab.counted("region")
	pages := append(crowded(tab), "/rollups/places_by_category", "/define?rollup=places_by_category", "/entities?q=nothing+like+this", "/review?order=teaches", "/quality?threshold=x",
		"/kinds/draft?kind=place", "/kinds/try?kind=place&a=name:+Joe%27s+Pizza&b=name:+Joes+Pizza")
	widths := []int64{1280}
	if longtest.On() {
		widths = append(widths, 390)
	}
	titles := map[string]string{}
	for _, width := range widths {
		tab.do(chromedp.EmulateViewport(width, 844))
		for _, page := range pages {
			tab.emulate(emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}})
			tab.open(page)
			complain := func(list ...string) {
				for _, what := range list {
					tab.Errorf("%.60s at %d: %s", page, width, what)
				}
			}
			complain(tab.nameless()...)
			complain(evaluate[[]string](tab, untidy)...)
			tab.do(chromedp.KeyEvent("\t")) // from now on the focus is visible, as with a keyboard
			complain(evaluate[[]string](tab, unfocused)...)
			if longtest.On() {
				complain(tab.outOfOrder()...)
			}
			for _, scheme := range []string{"light", "dark"} {
				tab.emulate(emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
				if faint := evaluate[string](tab, faintText); faint != "" {
					complain(scheme + ": hard to read: " + faint)
				}
				complain(evaluate[[]string](tab, faintControls)...)
			}
			title := evaluate[string](tab, "document.title")
			if before := titles[title]; before != "" && path(before) != path(page) {
				complain("has the title of " + before)
			}
			titles[title] = page
		}
	}
	tab.forgive("404")
	tab.forgive("422")
}

// path is a page without its question.
func path(page string) string {
	before, _, _ := strings.Cut(page, "?")
	return before
}

// named are the roles of the accessibility tree that need a name. Names of landmarks and tables are checked in the
// page.
var named = []string{
	"button", "link", "textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "slider", "spinbutton", "switch",
	"tab", "menuitem", "option",
	"DisclosureTriangle", "Date", "image", "img", "graphics-document", "region", "search", "heading", "dialog",
	"progressbar", "meter", "navigation", "columnheader", "rowheader",
}

// nameless lists elements without a name for a screen reader, and focusable elements without a role.
func (tab *tab) nameless() (list []string) {
	tab.Helper()
	call(tab, func(ctx context.Context) error {
		tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return err
		}
		controls := 0
		for _, node := range tree.Nodes {
			if node.Ignored || node.Role == nil {
				continue
			}
			role, name := said(node.Role), strings.TrimSpace(said(node.Name))
			focusable := slices.ContainsFunc(node.Properties, func(p *accessibility.Property) bool {
				return p.Name == "focusable" && p.Value != nil && string(p.Value.Value) == "true"
			})
			if focusable {
				controls++
			}
			switch {
			case name == "" && slices.Contains(named, role):
				list = append(list, fmt.Sprintf("a %s has no name (node %d)", role, node.BackendDOMNodeID))
			case focusable && role != "RootWebArea" && (name == "" || role == "generic" || role == "none"):
				list = append(list, fmt.Sprintf("a %s %q can have the focus, and says nothing", role, name))
			}
		}
		if controls < 3 {
			list = append(list, fmt.Sprintf("the tree has %d controls", controls))
		}
		return nil
	})
	return list
}

func said(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	return strings.Trim(string(v.Value), `"`)
}

// untidy lists faults in the outline of a page: its language, title, landmarks, headings, ids and labels.
const untidy = `(() => {
	const list = [], all = (s) => [...document.querySelectorAll(s)], seen = (e) => e.checkVisibility();
	if (!document.documentElement.lang) list.push("the page has no language");
	if (!document.title.trim()) list.push("the page has no title");
	for (const one of ["main", "body > header", "body > footer"]) if (all(one).length !== 1) list.push("there are " + all(one).length + " of " + one);
	const heads = all("h1, h2, h3, h4, h5, h6").filter(seen).map((e) => Number(e.tagName[1]));
	if (heads.filter((n) => n === 1).length !== 1 || heads[0] !== 1) list.push("the headings are " + heads);
	heads.forEach((n, i) => { if (i && n > heads[i - 1] + 1) list.push("a heading of level " + n + " follows one of " + heads[i - 1]); });
	const ids = all("[id]").map((e) => e.id), twice = ids.filter((id, i) => ids.indexOf(id) !== i);
	if (twice.length) list.push("ids are there twice: " + twice);
	for (const e of all("[aria-labelledby], [aria-describedby], [aria-controls], label[for]")) {
		for (const id of [e.getAttribute("aria-labelledby"), e.getAttribute("aria-describedby"), e.getAttribute("aria-controls"), e.getAttribute("for")].join(" ").split(" ")) {
			if (id && !document.getElementById(id)) list.push("nothing has the id " + id);
		}
	}
	const landmarks = all("nav, [role=region], [role=search], section[aria-labelledby], section[aria-label], aside, form[aria-label]").filter(seen)
		.map((e) => e.tagName + " " + (e.getAttribute("role") ?? "") + " " + (e.getAttribute("aria-label") ?? document.getElementById(e.getAttribute("aria-labelledby"))?.textContent ?? ""));
	for (const one of new Set(landmarks.filter((name, i) => landmarks.indexOf(name) !== i))) list.push("two landmarks have one name: " + one);
	for (const e of all("img:not([alt])")) list.push("a picture has no text: " + e.src);
	for (const e of all("svg")) if (!e.closest("[aria-hidden=true]") && seen(e) && !(e.getAttribute("role") && (e.getAttribute("aria-label") || e.getAttribute("aria-labelledby")))) list.push("a drawing is neither hidden nor named: " + e.getAttribute("class"));
	for (const e of all("[tabindex]")) if (e.tabIndex > 0) list.push("an element is before all others in the order of Tab: " + e.outerHTML.slice(0, 80));
	for (const e of all("[aria-hidden=true] :is(a[href], button, input, select, [tabindex])")) list.push("a hidden element can have the focus: " + e.outerHTML.slice(0, 80));
	for (const e of all("table")) if (!e.querySelector("th") && e.rows.length > 1) list.push("a table has no header: " + e.className);
	for (const e of all("th")) if (!e.scope && (e.textContent.trim() || e.closest("thead"))) list.push("a header of a table has no scope: " + e.textContent.trim().slice(0, 40));
	for (const e of all(".scroll")) if (seen(e) && e.scrollWidth > e.clientWidth && e.tabIndex !== 0) list.push("a part cannot be scrolled by keyboard: " + e.getAttribute("aria-label"));
	if (document.querySelector("body > header nav") && !location.pathname.match(/^\/(login|ring|A)/) && all("body > header nav [aria-current], body > footer [aria-current]").length !== (all("main .notice").length ? 0 : 1)) list.push("the current page is not marked once");
	return list;
})()`

// focusable are the elements that Tab leads to.
const focusable = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
	.filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && e.tabIndex >= 0 && e.type !== "hidden" && !e.closest("details:not([open]) > :not(summary)"))`

// unfocused lists the elements on which the focus of a keyboard cannot be seen.
const unfocused = `(() => {
	const list = [];
	const looks = (e) => [e, ...e.querySelectorAll("*")].map((one) => { const s = getComputedStyle(one); return [s.outlineStyle !== "none" && parseFloat(s.outlineWidth) ? s.outlineStyle : "", s.boxShadow, s.stroke, s.strokeWidth, s.fill, s.borderColor, s.backgroundColor].join(); }).join(";");
	for (const e of ` + focusable + `) {
		document.activeElement.blur();
		const before = looks(e);
		e.focus();
		if (document.activeElement !== e) list.push("cannot have the focus: " + e.outerHTML.slice(0, 80));
		else if (looks(e) === before || !e.matches(":focus-visible")) list.push("the focus cannot be seen on " + e.outerHTML.slice(0, 80));
		const { width, height, right, left } = e.getBoundingClientRect();
		if (!e.closest("svg") && (width < 1 || height < 1 || right < 0 || left > innerWidth)) list.push("off the screen with the focus: " + e.outerHTML.slice(0, 80));
	}
	document.activeElement.blur();
	return list;
})()`

// faintControls lists the fields whose border is hard to distinguish from its surroundings, and drawn text that is hard
// to read. WCAG 2.2, 1.4.11: 3 to 1 for the outline of a control.
const faintControls = `(() => {` + contrast + `
	const list = new Set();
	for (const e of document.querySelectorAll("main input:not([type=hidden], [type=file]), main select, header input")) {
		if (!e.checkVisibility()) continue;
		const edge = ratio(getComputedStyle(e).borderTopColor, e.parentElement);
		if (edge < 3) list.add("the edge of a field has " + edge.toFixed(2) + ": " + e.tagName + " " + e.name);
	}
	for (const e of document.querySelectorAll("svg.histogram text, svg.timeline text")) {
		const r = ratio(getComputedStyle(e).fill, e.closest("svg"));
		if (r < 4.5) list.add("drawn text has " + r.toFixed(2));
	}
	return [...list];
})()`

// outOfOrder presses Tab through a page, and lists the elements that are not reached, or not in page order.
func (tab *tab) outOfOrder() (list []string) {
	tab.Helper()
	count := evaluate[int](tab, `(() => {
		document.activeElement.blur();
		getSelection().removeAllRanges();
		window.walk = `+focusable+`;
		window.walk = walk.filter((e) => e.type !== "radio" || e.checked || !e.form?.querySelector('[name="' + e.name + '"]:checked'));
		walk[0].focus();
		return walk.length;
	})()`)
	for i := 1; i < min(count, 150); i++ {
		at := i - 1
		for parts := 0; at == i-1 && parts < 8; parts++ { // a date has fields of its own
			tab.do(chromedp.KeyEvent("\t"))
			at = evaluate[int](tab, `walk.indexOf(document.activeElement)`)
		}
		if at != i {
			return append(list, fmt.Sprintf("Tab leads to element %d after %d: %s", at, i-1,
				evaluate[string](tab, `document.activeElement.outerHTML.slice(0, 80)`)))
		}
	}
	return list
}
