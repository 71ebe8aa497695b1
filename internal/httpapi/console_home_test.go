// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
)

// The first page shows which sources delivered how much, and which entity to look at first.
func TestConsole_HomeShowsWhatLooksWrong(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.put([4]string{"pos", "1", "Joe's Pizza", "+14155552300"}, [4]string{"web", "1", "Joe Pizza", "415-555-2300"},
		[4]string{"guide", "1", "Joe's Pizza", "+14155552300"}, [4]string{"web", "2", "Zebra Lounge", "+14155552301"})
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

// A page costs the same however many entities there are: it reads only the sample, and shows the size of the sample.
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

// An entity of many records is shown although others have more sources and values, as in an import of one source.
func TestConsole_HomeFindsLargeEntities(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var records []httpapi.RecordInput
	for i := range 520 {
		name := fmt.Sprintf("Q%dx%d", i*i, i)
		records = append(records, httpapi.RecordInput{Source: "pos", Key: name, Attributes: httpapi.Attributes{
			"name": {name}, "city": {"Oakland"}, "region": {"CA"}, "country": {"US"}, "category": {"cafe"},
			"description": {name}, "hours": {name},
		}})
	}
	body, err := json.Marshal(httpapi.PutRequest{Records: records})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", string(body))).Results {
		if r.Error != nil {
			t.Fatal(r.Error)
		}
	}
	large := []string{"Joe's Pizza", "Zebra Lounge", "Quince Bakery", "Alpha Motors", "Violet Dental", "Otter Plumbing"}
	for i, name := range large {
		phone := fmt.Sprintf("+1415555%04d", 2300+i)
		f.put([4]string{"desk", name, name, phone}, [4]string{"desk", name + "2", name, phone},
			[4]string{"desk", name + "3", name, phone})
	}
	_, page, _ := strings.Cut(f.get("/").page(200), "Among 506 sampled entities")
	largest, _, _ := strings.Cut(page[strings.Index(page, `id="largest"`):], "</tbody>")
	for _, name := range large {
		f.says(largest, "<bdi>"+html.EscapeString(name)+"</bdi></a></th><td>3</td>")
	}
}
