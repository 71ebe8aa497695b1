// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// inTabs runs each test in a tab of its own, with a server of its own.
func inTabs(t *testing.T, looks map[string]func(*tab)) {
	t.Helper()
	browser := startBrowser(t)
	for name, look := range looks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look(openTab(t, browser, 4))
		})
	}
}

// reach presses Tab until a matching element has the focus, or up to a limit: the caller checks whether it was reached.
func (tab *tab) reach(selector string) {
	tab.Helper()
	for range 60 {
		tab.do(chromedp.KeyEvent("\t"))
		if evaluate[bool](tab, `document.activeElement.matches(`+jsString(selector)+`)`) {
			return
		}
	}
}

// isNarrow checks that pages, and all elements like these, fit on a phone.
func (tab *tab) isNarrow(pages []string, selector string) {
	tab.Helper()
	tab.do(chromedp.EmulateViewport(360, 740))
	for _, page := range pages {
		tab.open(page)
		tab.check(`document.documentElement.scrollWidth <= 360`, page+" scrolls to the side")
		tab.check(`[...document.querySelectorAll(`+jsString(selector)+`)].every(e => e.getBoundingClientRect().right <= 361)`,
			page+" is cut off")
	}
}

// contrast is a JavaScript function: the contrast ratio of a colour to the background of an element.
const contrast = `
	const light = rgb => { const [r, g, b] = rgb.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
	const parse = text => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
	const ground = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255]; };
	const ratio = (colour, e) => {
		const [a, b] = [light(parse(colour).slice(0, 3)), light(ground(e).slice(0, 3))].sort((x, y) => y - x);
		return (a + .05) / (b + .05);
	};`

// faintText lists the text of a page with too little contrast. WCAG 2.2, 1.4.3: 4.5 to 1 for text.
const faintText = `(() => {` + contrast + `
	const faint = new Set();
	for (const e of document.querySelectorAll("body *")) {
		if (e.closest("svg, noscript, .visually-hidden, .skip") || !e.checkVisibility() || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
		const r = ratio(getComputedStyle(e).color, e);
		if (r < 4.5) faint.add(e.tagName + "." + e.className + " " + r.toFixed(2));
	}
	return [...faint].join(", ");
})()`

// canBeRead checks the contrast of text on pages, in light and dark. after is called in each scheme, on the last page.
func (tab *tab) canBeRead(pages []string, after func(scheme string)) {
	tab.Helper()
	for _, scheme := range []string{"light", "dark"} {
		tab.emulate(emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		for _, page := range pages {
			tab.open(page)
			if faint := evaluate[string](tab, faintText); faint != "" {
				tab.Errorf("%s of %s is hard to read: %s", scheme, page, faint)
			}
		}
		after(scheme)
	}
}
