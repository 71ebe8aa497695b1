// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
)

// TestConsole tests the console in a real browser, each part in a tab with a server of its own. A tab also fails for an
// error in its console, a dialog, or a request to another host.
func TestConsole(t *testing.T) {
	t.Parallel()
	inTabs(t, map[string]func(*tab){
		"tiles go up while records are put":         consoleIsLive,
		"home says what looks wrong":                homeSaysWhatLooksWrong,
		"search leads to an entity":                 consoleSearches,
		"an entity explains itself":                 consoleExplains,
		"a large entity is a picture and lines":     entityIsAPicture,
		"an entity of 200 records is usable":        entityOfManyRecords,
		"a file is dropped, mapped and imported":    fileIsImported,
		"what records say is text":                  consoleShowsText,
		"nothing is wider than a telephone":         consoleIsNarrow,
		"light and dark can be read":                consoleCanBeRead,
		"a silent server is said":                   consoleSaysSilence,
		"another version loads the page again":      consoleReloads,
		"a command is copied":                       consoleCopies,
		"a lost stream is said":                     consoleSaysLoss,
		"without script a reload shows the numbers": consoleWithoutScript,
		"the ring is for the keyboard too":          consoleByKeyboard,
	})
}

// place is a record of a place in Springfield.
func place(source, key, name, phone string) records.Input {
	a := entity.Attributes{"name": {name}, "city": {"Springfield"}}
	if phone != "" {
		a["phones"], a["address"] = []string{phone}, []string{"12 Main Street"}
	}
	return records.Input{Ref: entity.Ref{Source: source, Key: key}, Attributes: a}
}

func consoleIsLive(tab *tab) {
	tab.open("/operations")
	tab.await(`document.querySelector("#live.running")`)
	tab.check(`document.querySelector("#empty").checkVisibility()`, "an empty store does not show the next command")
	tab.check(`document.querySelector("[data-text=records]").textContent === "0"`, "the store is not empty")
	evaluate[bool](tab, `window.before = true`)

	tab.put(place("pos", "1", "Joe's Pizza", "+14155552300"), place("pos", "2", "Zebra Café", ""))
	tab.await(`document.querySelector("[data-text=records]").textContent === "2"`)
	tab.put(place("web", "1", "Joes Pizza", "415-555-2300"))
	tab.await(`document.querySelector("[data-text=records]").textContent === "3"`)
	tab.await(`document.querySelector("[data-text=merges]").textContent === "1"`)
	tab.await(`document.querySelector("#joins li")?.textContent.includes("web:1")`)
	tab.check(`document.querySelector("[data-text=entities]").textContent === "2"`, "there are not two entities")
	tab.check(`!document.querySelector("#empty").checkVisibility()`, "the next command of an empty store is still there")
	tab.check(`[...document.querySelectorAll(".ring .fill")].some(p => p.getAttribute("d"))`,
		"no cell of the ring is filled")
	tab.check(`window.before === true`, "the page was loaded again")
	tab.click(`#joins a`)
	tab.await(`document.querySelector("h1 bdi")?.textContent.includes("Pizza")`)
}

// homeSaysWhatLooksWrong follows the first page from a new import to the entity with the weakest join, and to the
// records that share a telephone.
func homeSaysWhatLooksWrong(tab *tab) {
	tab.open("/")
	tab.await(`document.querySelector("#again.running")`)
	tab.check(`document.querySelector("#next").checkVisibility()`, "an empty store does not show the next command")
	tab.put(place("pos", "1", "Joe's Pizza", "+14155552300"), place("web", "1", "Joes Pizza", "415-555-2300"))
	tab.put(place("desk", "1", "Alpha Motors", "+14155559999"), place("desk", "2", "Quince Bakery", "+14155559999"),
		place("desk", "3", "Violet Dental", "+14155559999"))
	tab.await(`document.querySelector("#records").textContent === "5"`)
	tab.await(`document.querySelector("#weakest tr")?.innerText.includes("web:1")`)
	tab.await(`[...document.querySelectorAll("#lately tbody tr")].some(tr => tr.innerText.trim().split(/\s+/).slice(0, 3).join(" ") === "desk 3 0")`)
	tab.check(`document.querySelector("#shared tr").innerText.includes("Quince Bakery")`,
		"the shared telephone is not shown")
	tab.check(`[...document.querySelectorAll("#suspects .scroll, #lately .scroll")].every(e => e.tabIndex === 0)`,
		"a table cannot be scrolled by keyboard")
	tab.reach("#weakest a")
	tab.check(`document.activeElement.matches("#weakest a")`, "the weakest join is not reached with the tabulator")
	tab.do(chromedp.KeyEvent("\r"))
	tab.await(`location.hash === "#why" && document.querySelector("h1 bdi").textContent.includes("Pizza")`)
	tab.open("/")
	tab.click("#shared a")
	tab.await(`document.querySelectorAll(".hits li").length === 3`)
	tab.open("/")
	tab.click(`a[href="/operations"]`)
	tab.await(`document.querySelector("#live.running") && document.querySelector(".ring .cell")`)
}

func consoleSearches(tab *tab) {
	results := tab.put(place("pos", "1", "Joe's Pizza", "+14155552300"),
		place("web", "a/b c", "Joes Pizza", "415-555-2300"))
	tab.open("/operations")
	tab.enter(`header input`, "joe\r")
	tab.await(`document.querySelector(".hits a")`)
	tab.click(`.hits a`)
	tab.await(`location.pathname === "/entities/` + results[0].Entity.String() + `"`)
	for _, address := range []string{"web:a/b c", results[1].PUID.String(), results[0].Entity.String()} {
		tab.open("/operations")
		tab.enter(`header input`, address+"\r")
		tab.await(`document.querySelector("h1 bdi")?.textContent.includes("Pizza") && location.pathname.startsWith("/entities/")`)
	}
	tab.open("/entities")
	evaluate[string](tab, `document.querySelector("select").value = "phones"`)
	tab.enter(`[name=value]`, "4155552300\r")
	tab.await(`document.querySelector(".hits a") && location.search.includes("value=4155552300")`)
}

func consoleExplains(tab *tab) {
	results := tab.put(place("pos", "1", "Joe's Pizza", "+14155552300"), place("web", "1", "JOE'S PIZZA", "415-555-2300"))
	tab.open("/entities/" + results[0].Entity.String())
	tab.check(`document.querySelectorAll(".view .by a").length >= 4`, "the merged view does not name its records")
	tab.check(`[...document.querySelectorAll(".side td.spelled")].some(td => td.textContent.includes("spelled differently"))`, "differences are not marked")
	// The rows of the waterfall add up to its sum, and each bar begins where the previous one ended.
	tab.check(`(() => {
		const lines = [...document.querySelectorAll(".fall tbody .bits")].map(td => Math.round(100 * parseFloat(td.textContent)));
		const sum = Math.round(100 * parseFloat(document.querySelector(".fall tfoot .bits").textContent));
		return lines.length > 3 && lines.reduce((a, b) => a + b) === sum;
	})()`, "the waterfall does not add up")
	tab.check(`(() => {
		let end = null;
		for (const bar of document.querySelectorAll(".fall tbody rect.for, .fall tbody rect.against")) {
			const { left, right } = bar.getBoundingClientRect();
			const against = bar.classList.contains("against");
			if (end !== null && Math.abs((against ? right : left) - end) > 1) return false;
			end = against ? left : right;
		}
		return end !== null;
	})()`, "the bars do not touch")
	tab.check(`document.querySelector(".join").textContent.includes("times likelier")`, "the sum is not said in words")
}

// entityIsAPicture follows the weakest join of an entity of many records from the picture to its evidence.
func entityIsAPicture(tab *tab) {
	var many []records.Input
	for i := range 21 {
		many = append(many, place("pos", fmt.Sprint(i), "Joe's Pizza", "+14155552300"))
	}
	many[20].Attributes["name"] = []string{"Joe Pizza"}
	put := tab.put(many...)
	tab.open("/entities/" + put[0].Entity.String())
	tab.check(`document.querySelectorAll(".graph .node").length === 21 && document.querySelectorAll(".graph path").length === 20`, "the picture does not have all records and joins")
	tab.check(`document.querySelectorAll(".graph .weak").length === 1 && document.querySelectorAll(".join").length === 20`,
		"one join is the weakest")
	tab.check(`[...document.querySelectorAll(".join")].every(d => !d.open) && document.querySelector("#why").closest("section").getBoundingClientRect().height < 2000`, "the evidence of all joins is open")
	evaluate[bool](tab, `(document.querySelector(".graph").parentElement.focus(), true)`)
	tab.reach(".graph .weak")
	tab.check(`document.activeElement.matches(".graph .weak")`, "the weakest join is not reached with the tabulator")
	tab.do(chromedp.KeyEvent("\r"))
	tab.await(`[...document.querySelectorAll(".join")].filter(d => d.open).length === 1`)
	tab.check(`document.querySelector(".join[open] .weak") && document.querySelector(".join[open] .fall").checkVisibility()`, "another join was opened")
	tab.isNarrow([]string{"/entities/" + put[0].Entity.String()}, "main > *, header > *")
	tab.canBeRead([]string{"/entities/" + put[0].Entity.String()}, func(string) {})
}

// entityOfManyRecords views 200 records, with a map and a time line, and takes one of them out.
func entityOfManyRecords(tab *tab) {
	var many []records.Input
	for i := range 200 {
		p := place("directory"+fmt.Sprint(i%5), fmt.Sprint(i), "Joe's Wonderful Pizzeria", "+14155552300")
		p.Attributes["latitude"], p.Attributes["longitude"] = []string{fmt.Sprint(37.77 + float64(i%9)/10000)}, []string{fmt.Sprint(-122.41 - float64(i%7)/10000)}
		many = append(many, p)
	}
	of := tab.put(many[:100]...)[99].Entity.String()
	if again := tab.put(many[100:]...)[99].Entity.String(); again != of {
		tab.Fatalf("the records are two entities, %s and %s", of, again)
	}
	page := "/entities/" + of
	tab.open(page)
	tab.check(`document.querySelectorAll(".side.down tbody tr").length === 200`, "not all records are rows")
	for _, width := range []int64{1280, 390} {
		tab.do(chromedp.EmulateViewport(width, 844))
		if high := evaluate[int64](tab, `document.documentElement.scrollHeight`); high > 844*12 {
			tab.Errorf("at %d the page is %d high", width, high)
		}
	}
	tab.do(chromedp.EmulateViewport(1280, 844))
	tab.check(`document.querySelectorAll(".placemap a").length === 63 && document.querySelector(".placemap .merged circle")`, "the map is not drawn")
	tab.check(`document.querySelectorAll(".timeline circle").length > 1`, "the time line is not drawn")
	tab.check(`[...document.querySelectorAll(".scroll.tall")].every(e => e.tabIndex === 0)`,
		"a part cannot be scrolled by keyboard")
	// Which record of a spot its link leads to depends on their cells.
	at := evaluate[string](tab, `[...Array(140).keys()].map(i => "#record-" + (60 + i)).find(at => document.querySelector(".placemap a[href='" + at + "']"))`)
	evaluate[bool](tab, `(document.querySelector(".placemap a[href='`+at+`']").focus(), true)`)
	tab.do(chromedp.KeyEvent("\r"))
	// A page scrolls by whole pixels, and a row begins between two.
	tab.await(`location.hash === "` + at + `" && (({ top, bottom }) => top > -1 && bottom <= innerHeight)(document.querySelector("` + at + `").getBoundingClientRect())`)
	evaluate[bool](tab, `(document.querySelector("`+at+` a[data-inplace]").click(), true)`)
	tab.await(`document.querySelector(".preview")`)
	tab.check(`document.querySelector(".preview").textContent.includes("different thing")`, "splitting off has no preview")
	tab.isNarrow([]string{page}, "main > *, header > *")
	tab.canBeRead([]string{page}, func(string) {})
}

// fileIsImported drops a file of semicolons that is longer than a part, corrects a column, and imports it.
func fileIsImported(tab *tab) {
	of := tab.put(place("pos", "1", "Joe's Pizza", "+14155552300"))[0].Entity.String()
	tab.open("/data")
	tab.await(`document.readyState === "complete" && document.querySelector("#upload").checkVisibility()`)
	rows := []string{"Nr;Firma;Ort;Telefon", `1;"Joes Pizza";Springfield;415-555-2300`}
	for i := 2; i <= 1203; i++ {
		rows = append(rows, fmt.Sprintf("%d;\"Firm %d%sof; Oakland\";Oakland;", i, i,
			map[bool]string{true: "\n", false: " "}[i == 700]))
	}
	tab.drop("kunden.csv", strings.Join(append(rows, "1204;too;few", ""), "\n"))
	tab.await(`document.querySelector("#mapping")`)
	tab.check(`document.querySelector("#mapping").textContent.includes("Joes Pizza") && document.querySelector("#effect .note").textContent.includes("semicolons")`, "it is not shown how the file is read")
	evaluate[bool](tab, `(() => {
		const set = (name, value) => { document.querySelector('#mapping [name="' + name + '"]').value = value; };
		set("source", "kunden"); set("key", "Nr"); set("set.name", "Firma"); set("set.city", "Ort"); set("set.phones", "Telefon");
		document.querySelector("#mapping").dataset.old = "1";
		document.querySelector("#mapping [name=again]").click();
		return true;
	})()`)
	tab.await(`document.querySelector("#mapping:not([data-old])") && document.querySelector(".first-records")`)
	tab.check(`document.querySelector(".first-records").textContent.includes("matched") && document.querySelector(".first-records a[href='/entities/`+of+`']")`, "it is not shown what the first record would match")
	if got := tab.thing("pos:1"); got != of {
		tab.Errorf("a preview changed the entity to %s", got)
	}
	tab.enter(`#mapping [name=import]`, "\r")
	tab.await(`document.querySelector("#import-says")?.textContent.startsWith("Imported 1204 rows")`)
	tab.check(`document.querySelector("#import-says").textContent.includes("1 refused") && document.querySelector("#import-progress").value === 1`, "it is not said what became of the rows")
	tab.check(`document.querySelector(".refused-rows tbody td").textContent === "1206"`,
		"the refused row has another line")
	tab.await(`[...document.querySelectorAll("#of-sources tr")].some((e) => e.querySelector("th[scope=row]")?.textContent === "kunden" && e.textContent.includes("kunden.csv") && e.textContent.includes("1 refused"))`)
	tab.check(`!document.querySelector(".first-records")`, "stored records are said to be not stored yet")
	for _, key := range []string{"1", "700", "1203"} {
		tab.thing("kunden:" + key)
	}
	if got := tab.thing("kunden:1"); got != of {
		tab.Errorf("the record is in %s, not in %s", got, of)
	}
	rowIsMended(tab)
	tab.isNarrow([]string{"/data"}, "main > *, header > *")
	tab.canBeRead([]string{"/data"}, func(string) {})
}

// rowIsMended corrects a refused row in place. It stays in the list while it is refused again, and leaves it when it is
// taken.
func rowIsMended(tab *tab) {
	tab.Helper()
	mend := func(text string) {
		tab.Helper()
		evaluate[bool](tab, `(() => {
			document.querySelector(".refused-rows textarea").value = `+jsString(text)+`;
			document.querySelector(".refused-rows").dataset.old = "1";
			document.querySelector("#mending button").click();
			return true;
		})()`)
	}
	tab.check(`document.querySelector(".refused-rows textarea").value === "1204;too;few" && document.querySelector("#mending").checkVisibility()`, "the refused row cannot be mended")
	mend("1204;still;few")
	tab.await(`document.querySelector(".refused-rows textarea")?.value === "1204;still;few" && document.querySelector("#import-says").textContent.includes("1 refused")`)
	mend(`1204;"Mended; Firm";Oakland;`)
	tab.await(`document.querySelectorAll(".refused-rows tbody tr").length === 0 && document.querySelector("#import-says").textContent.includes("0 refused")`)
	tab.check(`document.querySelector("#import-says").textContent.startsWith("Imported 1204 rows") && !document.querySelector("#mending").checkVisibility()`, "a mended row is counted twice, or can be mended again")
	tab.thing("kunden:1204")
	tab.await(`[...document.querySelectorAll("#of-sources tr")].some((e) => e.textContent.includes("kunden.csv") && !e.textContent.includes("refused"))`)
}

// drop drops a file on the page.
func (tab *tab) drop(name, text string) {
	tab.Helper()
	evaluate[bool](tab, `(() => {
		const dropped = new DataTransfer();
		dropped.items.add(new File([`+jsString(text)+`], `+jsString(name)+`));
		document.querySelector("#upload").dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
		return true;
	})()`)
}

// hostile are strings that must be shown as text.
var hostile = []string{
	`<img src=x onerror=alert(1)>`, `<svg onload=alert(1)>`, `</script><script>alert(1)</script>`,
	`"><iframe src=//evil.example>`,
	`javascript:alert(1)`, "\u202etxt.exe", `{{.}}${alert(1)}`,
}

func consoleShowsText(tab *tab) {
	tab.open("/operations")
	tab.await(`document.querySelector("#live.running")`)
	for i, s := range hostile {
		phone := "+1415555230" + string(rune('0'+i))
		record := func(source string) records.Input {
			p := place(source, s, s+" Pizza", phone)
			p.Attributes["description"], p.Attributes["category"], p.Attributes["hours"] = []string{s}, []string{s}, []string{s}
			return p
		}
		if strings.ContainsRune(s, '\u202e') { // not allowed in an identifier
			continue
		}
		first := tab.put(record("pos"))
		tab.put(record("web"))
		tab.open("/operations")
		tab.await(`document.querySelector("#live.running")`)
		tab.open("/entities?q=pizza")
		tab.check(`document.querySelectorAll(".hits li").length > 0`, "nothing was found")
		tab.open("/entities/" + first[0].Entity.String())
		tab.check(`document.querySelector(".side").textContent.includes(`+jsString(s)+`)`, s+" is not shown as it is")
		tab.check(`!document.querySelector("img, iframe, script:not([src]), main svg:not([class])")`, s+" became an element")
	}
	tab.open("/operations")
	tab.await(`document.querySelector("#live.running")`)
	tab.put(place("pos", "last", hostile[0]+" Grill", "+14155559999"))
	tab.put(place("web", "last", hostile[0]+" Grill", "+14155559999"))
	tab.await(`document.querySelector("#joins .name")?.textContent.startsWith(` + jsString(hostile[0]) + `)`)
	tab.open("/entities?q=" + `%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E`)
	tab.check(`document.querySelector("header input").value === `+jsString(hostile[0]), "the question is not kept")
}

// pagesOf fills a store and returns the URL of each kind of page.
func pagesOf(tab *tab) []string {
	long := strings.Repeat("Anoverlongwordwithoutanyspace", 4)
	results := tab.put(
		place("pos", "1", "Joe's Pizza "+long, "+14155552300"),
		place("web", strings.Repeat("k", 200), "Joes Pizza "+long, "415-555-2300"),
		place("guide", "1", "Joe's Pizza "+long, "(415) 555-2300"),
	)
	return []string{
		"/", "/operations", "/data", "/entities", "/entities?q=" + long, "/entities?q=nothing",
		"/entities/" + results[0].Entity.String(),
		"/entities/20be0ffc-314a-bd53-7a50-013a65ca76d2", "/ring", "/ring?address=pos:1",
	}
}

func consoleIsNarrow(tab *tab) {
	tab.isNarrow(pagesOf(tab), "main > *, #live > *, header > *")
	tab.forgive("404")
}

func consoleCanBeRead(tab *tab) {
	backgrounds := map[string]string{}
	tab.canBeRead(pagesOf(tab), func(scheme string) {
		backgrounds[scheme] = evaluate[string](tab, `getComputedStyle(document.body).backgroundColor`)
	})
	if backgrounds["light"] == backgrounds["dark"] {
		tab.Errorf("light and dark have one background, %s", backgrounds["light"])
	}
	tab.forgive("404")
}

func consoleSaysLoss(tab *tab) {
	tab.put(place("pos", "1", "Joe's Pizza", ""))
	tab.open("/operations")
	tab.await(`document.querySelector("#live.running") && !document.querySelector("#stream").checkVisibility()`)
	tab.stop()
	tab.await(`document.querySelector("#stream").checkVisibility() && document.querySelector("#live.stale")`)
	// it may have seemed slow before
	tab.await(`/Locus is stopping|connection to Locus is lost/.test(document.querySelector("#stream").textContent)`)
	tab.check(`document.querySelector("#stream").textContent.includes("UTC")`, "it does not say how old the numbers are")
	tab.put(place("pos", "2", "Zebra Café", ""))
	tab.serve()
	tab.await(`!document.querySelector("#stream").checkVisibility() && !document.querySelector("#live.stale")`)
	tab.await(`document.querySelector("[data-text=records]").textContent === "2"`)
	tab.forgive("ERR_")
}

func consoleSaysSilence(tab *tab) {
	tab.open("/operations")
	tab.await(`document.querySelector("#live.running")`)
	tab.frozen.Lock()
	tab.await(`document.querySelector("#stream").checkVisibility() && document.querySelector("#live.stale")`)
	tab.check(`document.querySelector("#stream").textContent.startsWith("Locus does not answer.")`,
		"it does not say what happened")
	tab.frozen.Unlock()
	tab.await(`!document.querySelector("#stream").checkVisibility() && !document.querySelector("#live.stale")`)
}

func consoleReloads(tab *tab) {
	tab.open("/operations")
	tab.await(`document.querySelector("#live.running")`)
	tab.stop()
	tab.version = "99.1"
	tab.serve()
	tab.await(`document.querySelector("footer").textContent.includes("99.1")`)
	tab.await(`document.querySelector("#live.running")`)
	tab.forgive("ERR_")
}

func consoleCopies(tab *tab) {
	tab.open("/operations")
	tab.check(`[...document.querySelectorAll("code")].filter(c => c.checkVisibility()).length >= 6`,
		"numbers stand without their commands")
	tab.note("copied", ".tile .copy", `[document.querySelector(".tile .copy").textContent]`)
	tab.click(`.tile .copy`)
	tab.await(`window.copied.join() === "Copied,Copy"`)
}

func consoleWithoutScript(tab *tab) {
	tab.withoutScript()
	tab.put(place("pos", "1", "Joe's Pizza", ""))
	tab.open("/operations")
	tab.check(`document.querySelector("[data-text=records]").textContent === "1"`, "the page has no numbers")
	tab.check(`!document.querySelector("#live.running, .copy:not([hidden])")`, "the script ran")
	tab.put(place("pos", "2", "Zebra Café", ""))
	tab.await(`document.querySelector("[data-text=records]").textContent === "2" || void location.reload()`)
}

func consoleByKeyboard(tab *tab) {
	tab.inZone("Asia/Kolkata")
	put := tab.put(place("pos", "1", "Joe's Pizza", ""))
	for _, page := range []string{"/review", "/entities/" + put[0].Entity.String(), "/nothing"} {
		tab.open(page)
		tab.do(chromedp.KeyEvent("/"))
		tab.check(`document.activeElement.matches("header .find input") && document.activeElement.value === ""`,
			"/ does not lead to the search field")
		tab.do(chromedp.KeyEvent("/"))
		tab.check(`document.activeElement.value === "/"`, "a slash cannot be typed into the search field")
	}
	tab.forgive("404")
	tab.open("/entities/" + put[0].Entity.String())
	tab.check(`[...document.querySelectorAll("time")].length > 1 && [...document.querySelectorAll("time")].every(e =>
		/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT\+5:30$/.test(e.textContent)
		&& Math.abs(Date.parse(e.textContent.replace(" GMT", "").replace("+5", "+05").replace(" ", "T")) - Date.parse(e.dateTime)) < 1000)`,
		"times are not in the zone of the reader")
	tab.open("/operations")
	tab.check(`document.querySelectorAll(".ring .cell").length === 4`, "there are not four cells")
	tab.reach(".ring .cell")
	tab.check(`document.activeElement.matches(".ring .cell")`, "the ring is not reached with the tabulator")
	tab.check(`getComputedStyle(document.activeElement.querySelector(".detail")).visibility === "visible"`,
		"the focused cell does not show its figures")
	tab.check(`getComputedStyle(document.querySelector(".ring .middle")).visibility === "hidden"`,
		"two texts stand in the middle")
	tab.do(chromedp.KeyEvent("\r"))
	tab.await(`document.querySelector("tr:target")?.id === "g0-0"`)
	tab.click(`.ring .middle`)
	tab.await(`location.pathname === "/ring" && document.querySelectorAll("#bands .piece").length === 4`)
}
