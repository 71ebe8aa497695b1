// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus/internal/longtest"
)

// TestEverywhere checks on every page: the current section is marked, the slash focuses the search, times are in the
// reader's zone, there is a command that does the same, and the address shows the same page to others.
func TestEverywhere(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestLayout and TestAccessible walk the pages")
	browser := startBrowser(t)
	tab := openTab(t, browser, 4)
	tab.counted("region")
	pages := append(crowded(tab), "/rollups/places_by_category", "/rollups/places_by_category?g1=none",
		"/define?rollup=places_by_category", "/review?order=teaches&source=pos")
	other := tab.beside(browser)
	other.inZone("Etc/GMT-5")
	commands := map[string]string{}
	walked(t, pages)
	for _, page := range pages {
		tab.open(page)
		tab.await(`document.readyState === "complete"`)
		missing := evaluate[bool](tab,
			`!!document.querySelector("main .notice") && document.title.startsWith("Page not found")`)
		if marked := evaluate[[]string](tab, `[...document.querySelectorAll("nav [aria-current], footer [aria-current]")].filter((e) => e.getAttribute("href")?.match(/^\/[a-z]*$/)).map((e) => e.textContent)`); len(marked) != 1 && !missing {
			tab.Errorf("%.60s: the current sections are %q", page, marked)
		}
		for _, command := range evaluate[[]string](tab, `[...document.querySelectorAll("main .command code")].map((e) => e.textContent)`) {
			commands[command] = page
		}
		tab.check(fmt.Sprint(missing, ` || document.querySelector("main .command code")`),
			fmt.Sprintf("%.60s has no command that does the same", page))
		tab.do(chromedp.KeyEvent("/"))
		tab.await(`document.activeElement.matches("header .find input") && document.activeElement.value.indexOf("/") !== 0`)

		other.open(page)
		other.await(`document.readyState === "complete"`)
		for _, wrong := range evaluate[[]string](other, timesElsewhere) {
			tab.Errorf("%.60s: %s", page, wrong)
		}
		other.await(`(document.querySelector("main time[datetime]") === null || !!document.querySelector("main time[title]"))`)
		shown := evaluate[string](tab, lasting)
		same := shown == evaluate[string](other, lasting)
		for n := 0; n < 40 && !same; n++ { // numbers may move between two looks
			tab.open(page)
			other.open(page)
			shown = evaluate[string](tab, lasting)
			same = shown == evaluate[string](other, lasting)
		}
		if !same {
			tab.Errorf("%.60s is not the same to others: %.500s\nand\n%.500s", page, shown, evaluate[string](other, lasting))
		}
	}
	tab.forgive("404")
	other.forgive("404")
	tab.forgive("422")
	other.forgive("422")
	tab.areCommands(commands)
}

// lasting is the text of a page without the parts that change with time: times, and durations until now.
const lasting = `(() => {
	const page = document.querySelector("main").cloneNode(true);
	for (const e of page.querySelectorAll("time, .asof, .spark, .data-sources td:nth-child(7)")) e.remove();
	return page.textContent.replace(/\s+/g, " ");
})()`

// timesElsewhere lists times of day that are outside a time element, and times in time elements that are not in the
// reader's zone. Commands, fields, data and chart axes are exempt.
const timesElsewhere = `(() => {
	const list = [];
	const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	for (let node = texts.nextNode(); node; node = texts.nextNode()) {
		const e = node.parentElement;
		if (e.closest("time, .command, code, pre, textarea, input, select, bdi, script, noscript, [data-zoned]") || !e.checkVisibility()) continue;
		if (/\d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d|\d\d:\d\d UTC|\d{4}-\d\d-\d\d \d\d:\d\d/.test(node.data)) list.push("a time that stays in UTC: " + node.data.trim().slice(0, 80));
	}
	for (const e of document.querySelectorAll("main time")) {
		const at = new Date(e.dateTime);
		if (Number.isNaN(at.getTime())) list.push("no time: " + e.outerHTML);
		const here = new Date(at.getTime() + 5 * 3600000).toISOString();
		if (!e.textContent.includes(here.slice(11, 19)) || !e.textContent.includes("GMT+5")) list.push("not in the zone of the reader: " + e.textContent + " for " + e.dateTime);
	}
	return list;
})()`

// areCommands checks that the program knows the commands that pages show, with their flags.
func (tab *tab) areCommands(commands map[string]string) {
	tab.Helper()
	asked := map[string]bool{}
	for line, page := range commands {
		line, _, _ = strings.Cut(line, " | ")
		if !strings.HasPrefix(line, "locus ") {
			continue
		}
		split, err := exec.Command("bash", "-c", `printf '%s\0' `+line).Output() //nolint:gosec // a shell reads it, as it is copied
		if err != nil {
			tab.Errorf("%.60s: a shell does not read %q: %v", page, line, err)
			continue
		}
		args := strings.Split(strings.TrimSuffix(string(split), "\x00"), "\x00")[1:]
		verb := 0
		for verb < len(args) && verb < 2 && !strings.HasPrefix(args[verb], "-") && strings.Trim(args[verb], "abcdefghijklmnopqrstuvwxyz-") == "" {
			verb++
		}
		if key := strings.Join(args, " "); asked[key] {
			continue
		} else {
			asked[key] = true
		}
		out, err := run(tab.T, slices.Concat(args[:verb], []string{"--help"}, args[verb:])...)
		if err != nil || !strings.Contains(out, "locus "+strings.Join(args[:verb], " ")) &&
			!strings.Contains(out, "locus "+args[0]+" ") {
			tab.Errorf("%.60s: %q is no command: %v\n%.300s", page, line, err, out)
		}
	}
	if len(asked) < 20 {
		tab.Errorf("only %d commands are on the pages", len(asked))
	}
}
