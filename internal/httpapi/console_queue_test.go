// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"testing"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/review"
)

// doubtful puts pairs of records with the same name and town, and different telephones: possible matches.
func (f *fixture) doubtful(names ...string) {
	f.Helper()
	var puts []records.Input
	for i, name := range names {
		for j, source := range []string{"pos", "web"} {
			puts = append(puts, records.Input{Ref: entity.Ref{Source: source, Key: fmt.Sprint(i)}, Attributes: entity.Attributes{
				"name": {name}, "city": {"Springfield"},
				"phones": {fmt.Sprintf([]string{"+141555523%02d", "+165077799%02d"}[j], 17*i)},
			}})
		}
	}
	results, err := f.svc.Records().Put(f.Context(), puts)
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			f.Fatal(r.Err)
		}
	}
}

var listedPair = regexp.MustCompile(`<td><a href="(/review\?[^"]+)"[^>]*><bdi class="ref">([^<]+)</bdi> and <bdi class="ref">([^<]+)</bdi>`)

// listed returns the pairs that a page of the queue lists, in order.
func listed(page string) (pairs []string) {
	for _, found := range listedPair.FindAllStringSubmatch(page, -1) {
		pairs = append(pairs, found[2]+" "+found[3])
	}
	return pairs
}

// The list that a person answers agrees with the queue after every answer, undone ones included, although the queue is
// not read again for it.
func TestConsole_TheKeptQueueAgreesWithTheQueue(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.doubtful("Joe's Pizza", "Zebra Lounge", "Joe's Pizza", "Quince Bakery", "Joe's Pizza")
	real := func() (pairs []string) {
		t.Helper()
		page, err := f.svc.Review().List(t.Context(), review.Query{Limit: review.MaxPage})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Pairs {
			pairs = append(pairs, p.A.String()+" "+p.B.String())
		}
		return pairs
	}
	agree := func(page, after string) {
		t.Helper()
		got, want := listed(page), real()
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("after %s the page lists\n%q, the queue has\n%q", after, got, want)
		}
	}
	page := f.get("/review").page(200)
	agree(page, "no answer")
	if len(listed(page)) < 5 {
		t.Fatalf("only %q", listed(page))
	}
	for n := 0; len(listed(page)) > 0; n++ {
		pair := listedPair.FindStringSubmatch(page)
		fields := []string{"verdict", []string{"same", "different"}[n%2], "a", pair[2], "b", pair[3], "back", "/review"}
		answered := f.get(f.submit("/decisions", ofPage, fields...).leads()).page(200)
		agree(answered, fmt.Sprint(fields))
		undone := f.get(f.submit("/decisions", ofPage, append(fields, "withdraw", "1")...).leads()).page(200)
		agree(undone, fmt.Sprint("undone ", fields))
		f.submit("/decisions", ofPage, fields...).leads()
		page = f.get("/review?said=" + url.QueryEscape(pair[2]) + "&of=" + url.QueryEscape(pair[3])).page(200)
		agree(page, fmt.Sprint("again ", fields))
		if n > 50 {
			t.Fatal("the queue has no end")
		}
	}
	f.says(page, "nothing to review")
}
