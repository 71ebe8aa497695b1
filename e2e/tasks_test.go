// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestTasks does ten tasks of a steward in a real browser, and compares the steps with the table of docs/console.md.
// How long a browser takes that never hesitates is logged, because it depends on the machine: the table has the seconds
// of one run.
func TestTasks(t *testing.T) {
	t.Parallel()
	inTabs(t, map[string]func(*tab){"ten tasks": doTasks})
}

// task does one of the tasks. Each step is a click, a key, or a value that is typed or chosen.
type task struct {
	*tab
	steps int
}

func (k *task) clicks(selector string) {
	k.Helper()
	k.steps++
	k.await(`document.readyState === "complete" && document.querySelector(` + jsString(selector) + `)`)
	evaluate[bool](k.tab, `(document.querySelector(`+jsString(selector)+`).click(), true)`)
}

func (k *task) clicksOn(words string) {
	k.Helper()
	k.steps++
	link := `[...document.querySelectorAll("main :is(a, button)")].find((e) => e.textContent.trim() === ` + jsString(words) + `)`
	k.await(`document.readyState === "complete" && ` + link)
	evaluate[bool](k.tab, `(`+link+`.click(), true)`)
}

func (k *task) presses(key string) {
	k.Helper()
	k.steps++
	k.press(key)
}

func (k *task) sets(selector, value string) {
	k.Helper()
	k.steps++
	evaluate[bool](k.tab, `(document.querySelector(`+jsString(selector)+`).value = `+jsString(value)+`, true)`)
}

func doTasks(tab *tab) {
	given := []string{"Brass", "Otter", "Quince", "Violet", "Maple", "Zebra", "Alpha", "Kestrel", "Juniper", "Walrus",
		"Copper", "Hazel"}
	trade := []string{"Antiques", "Plumbing", "Bakery", "Dental", "Optics", "Lounge", "Motors", "Books", "Florist",
		"Tailors", "Pottery", "Kennels"}
	for i := range 24 {
		name := given[i%12] + "berg " + trade[(i*5+i/12)%12]
		source := []string{"pos", "crm"}[i%2]
		a, b := phoned(source, fmt.Sprint("q", i), name, fmt.Sprintf("+1415555%04d", 1000+i)), phoned("web",
			fmt.Sprint("q", i), name, fmt.Sprintf("+1628555%04d", 3000+7*i))
		a.Attributes["postcode"], b.Attributes["postcode"] = []string{fmt.Sprint(94100 + i)}, []string{fmt.Sprint(20500 + i)}
		tab.put(a, b)
	}
	joes := tab.put(place("pos", "1", "Joe's Pizza", "+14155552300"),
		place("web", "1", "Joes Pizza", "415-555-2300"))[0].Entity.String()
	shops := tab.put(place("pos", "2", "Wonderland Toys", "+14155558811"),
		place("web", "2", "Wonder Toys", "+14155558811"))[0].Entity.String()
	tab.day("page /about")
	steps := map[string]int{}
	do := func(name, first string, what func(*task), done string) {
		tab.Helper()
		if first != "" {
			tab.open(first)
			tab.await(`document.readyState === "complete"`)
		}
		k, began := &task{tab: tab}, time.Now()
		what(k)
		tab.await(done)
		steps[name] = k.steps
		tab.Logf("| %s | %d | %.1f s |", name, k.steps, time.Since(began).Seconds())
	}
	tab.open("/review")
	evaluate[bool](tab, `(document.querySelector(".answer [name=author]").value = "Ada", true)`) // once in a browser
	tab.press("d")
	tab.await(`document.querySelector("#answer")`)
	waiting := evaluate[int](tab, `parseInt(document.querySelector("#waiting").textContent)`)
	if waiting < 21 {
		tab.Fatalf("only %d pairs wait", waiting)
	}
	left := func(n int) string {
		return fmt.Sprintf(`document.readyState === "complete" && document.querySelector("#answer") && parseInt(document.querySelector("#waiting").textContent) === %d`, n)
	}
	do("answer only what a source has in doubt", "/review", func(k *task) {
		k.sets(".filter [name=source]", "crm")
		k.clicks(".filter button")
	}, `document.querySelector("#filtered")`)
	do("answer twenty questions", "/review", func(k *task) {
		for n := 1; n <= 20; n++ {
			k.presses("d")
			k.await(left(waiting - n))
		}
	}, "true")
	do("take the last answer back by keyboard", "", func(k *task) { k.presses("u") }, left(waiting-19))
	pair := `document.querySelector(".pairs .rkey")?.textContent`
	do("leave a pair for later and return to it", "/review", func(k *task) {
		first := evaluate[string](tab, pair)
		k.presses("n")
		k.await(`document.querySelector("#skipped") && ` + pair + ` !== ` + jsString(first))
		k.presses("r")
	}, `!document.querySelector("#skipped") && document.querySelector(".pairs")`)
	do("find why two shops are one entity: search, open it, the weakest join", "/review", func(k *task) {
		k.presses("/")
		k.await(`document.activeElement.matches(".find input")`)
		k.steps++ // typed text
		k.do(chromedp.SendKeys(chromedp.CSS(".find input"), "joes pizza"))
		k.steps++
		k.do(chromedp.KeyEvent("\r"))
		k.clicks(`.hits a`)
	}, `location.pathname === "/entities/`+joes+`" && document.querySelector("#why")?.checkVisibility()`)
	do("undo that: split off a record, with a preview", "", func(k *task) {
		k.clicksOn("split it off")
		k.clicks(`.preview .answer button`)
	}, `location.pathname === "/entities/`+joes+`" && !document.querySelector(".preview") && document.querySelectorAll(".side thead th").length === 1`)
	do("pin another value, with a preview", "/entities/"+shops, func(k *task) {
		k.sets(`.deed [name=pin]`, "name")
		k.sets(`.deed [name=value]`, "Wonderland")
		k.clicks(`[aria-labelledby=pin] button`)
		k.clicks(`.preview .answer button`)
	}, `document.querySelector("h1 bdi").textContent === "Wonderland" && document.querySelector(".pinned")`)
	do("find the worst entity from the first page", "/", func(k *task) { k.clicks("#weakest a") }, `location.pathname === "/entities/`+shops+`"`)
	do("import a semicolon file with three columns to correct", "/data", func(k *task) {
		k.steps++
		k.drop("customers.csv", "id;Firma;Ort;Telefon\n1;\"Quill; and Sons\";Oakland;510-555-7777\n2;Tulip Inn;Oakland;510-555-8888\n")
		k.await(`document.querySelector("#mapping")`)
		k.sets(`#mapping [name="set.name"]`, "Firma")
		k.sets(`#mapping [name="set.city"]`, "Ort")
		k.sets(`#mapping [name="set.phones"]`, "Telefon")
		evaluate[bool](tab, `(document.querySelector("#mapping").dataset.old = "1", true)`)
		k.clicks("#mapping [name=again]")
		k.await(`document.querySelector("#mapping:not([data-old])") && document.querySelector(".first-records")`)
		k.clicks("#mapping [name=import]")
	}, `document.querySelector("#import-says")?.textContent.startsWith("Imported 2 rows")`)
	do("compare a metric with the day before, hour by hour", metricPage("page /about"), func(k *task) {
		k.clicksOn("Zoom and compare")
		k.await(`document.querySelector("[name=before]")`)
		k.clicks("[name=before]")
		k.sets("[name=step]", "hour")
		k.clicksOn("Show")
	}, `document.querySelector("#totals li + li")?.textContent.startsWith("the period before") && document.querySelector("#chart-title").textContent.startsWith("By hour")`)

	text, err := os.ReadFile(filepath.Join("..", "docs", "console.md"))
	if err != nil {
		tab.Fatal(err)
	}
	seconds := regexp.MustCompile(`^\d+\.\d`)
	for name, n := range steps {
		row := strings.Split(lineWith(string(text), "| "+name+" |"), " | ")
		if len(row) != 5 || row[2] != fmt.Sprint(n) || !seconds.MatchString(row[3]) || !seconds.MatchString(row[4]) {
			tab.Errorf("%s takes %d steps; the documentation has %q", name, n, row)
		}
	}
}

// lineWith returns the line of a text that begins like this.
func lineWith(text, begin string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, begin) {
			return line
		}
	}
	return ""
}
