// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// The first page says which sources brought what, and which entity to look at first.
func TestConsole_HomeShowsWhatLooksWrong(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.put([4]string{"pos", "1", "Joe's Pizza", "+14155552300"}, [4]string{"web", "1", "Joe Pizza", "415-555-2300"}, [4]string{"guide", "1", "Joe's Pizza", "+14155552300"}, [4]string{"web", "2", "Zebra Lounge", "+14155552301"})
	for i, name := range []string{"Alpha Motors", "Quince Bakery", "Violet Dental"} {
		f.put([4]string{"desk", fmt.Sprint(i), name, "+14155559999"})
	}
	page := f.get("/").page(200)
	f.says(page, `id="largest"`, `id="weakest"`, ` and <bdi class="ref">web:1</bdi></td>`,
		`<tr data-key="web"><th scope="row"><bdi>web</bdi></th><td>2</td><td>1</td><td>1</td><td>0</td>`, `<th scope="row"><bdi>desk</bdi></th><td>3</td>`)
	_, shared, found := strings.Cut(page, `id="shared"`)
	if !found {
		t.Fatal("no identifier is shared")
	}
	f.says(shared[:strings.Index(shared, "</tbody>")], "<td>3</td>", "Alpha Motors", "Quince Bakery", "Violet Dental")
}

// A page costs the same however many entities there are: beyond the sample it reads nothing, and says how large that is.
func TestConsole_HomeReadsASample(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var many [][4]string
	for i := range 520 {
		many = append(many, [4]string{"pos", fmt.Sprint(i), fmt.Sprintf("Q%dx%d", i*i, i), ""})
	}
	f.put(many...)
	f.says(f.get("/").page(200), "Among 500 sampled entities", `>520</p>`)
}
