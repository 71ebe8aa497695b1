// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/httpapi"
)

var slot = regexp.MustCompile(`data-text="([^"]+)"[^>]*>([^<]*)<`)

// home returns the operations page, and the texts in its slots.
func home(t *testing.T, base string) (page string, slots map[string]string) {
	t.Helper()
	response, err := http.Get(base + "/operations")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	slots = map[string]string{}
	for _, found := range slot.FindAllStringSubmatch(string(body), -1) {
		slots[found[1]] = found[2]
	}
	return string(body), slots
}

// The operations page agrees with the command line, whether commands wrote to the directory before the server started
// or requests did.
func TestHome_AgreesWithTheCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "places.csv")
	rows := "id,name,phones,address\n1,Joe's Pizza,+14155552300,12 Main Street\n2,Zebra Lounge,+14155552301,99 Mill Lane\n3,Joes Pizza,415-555-2300,12 Main St\n"
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"ingest", "--data", data, "--source", "pos", "--key", "id", file},
		{"metric", "hit", "--data", data, "page /about", "50"},
		{"metric", "hit", "--data", data, "page /about", "5"},
	} {
		if out, err := run(t, args...); err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
	}
	s := serve(t, data, "127.0.0.1:0")
	// joined has one of the two records: either may have created the entity
	agrees := func(received, hits int, joined ...string) {
		t.Helper()
		eventually(t, time.Minute, "the first screen agrees with the command line", func() (bool, string) {
			var status cells.Status
			if err := get(s.url, "/v1/status", nil, &status); err != nil {
				return false, err.Error()
			}
			page, shown := home(t, s.url)
			for slot, want := range map[string]any{
				"records": status.Counts.Records, "own.records.today": received,
				"entities": status.Counts.Entities,
				"merges":   status.Counts.Merges, "own.merges.today": status.Counts.Merges,
				"own.hits.today": hits, "hits.today": fmt.Sprint(hits, " today"), "own.errors.today": 0,
			} {
				if shown[slot] != fmt.Sprint(want) {
					return false, fmt.Sprintf("%s is %q, want %v", slot, shown[slot], want)
				}
			}
			return slices.ContainsFunc(joined, func(ref string) bool { return strings.Contains(page, `<bdi class="ref">`+ref+`</bdi>`) }),
				fmt.Sprint("none of ", joined, " is among the latest joins")
		})
	}
	agrees(3, 55, "pos:1", "pos:3")
	if _, err := post(s.url, []httpapi.RecordInput{{Source: "web", Key: "1", Attributes: httpapi.Attributes{"name": {"JOE'S PIZZA"}, "phones": {"4155552300"}}}}); err != nil {
		t.Fatal(err)
	}
	if out, err := run(t, "metric", "hit", "--url", s.url, "page /about", "7"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	agrees(4, 62, "web:1")
}
