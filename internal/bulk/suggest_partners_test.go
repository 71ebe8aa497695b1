// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// drafted returns the draft for two files.
func drafted(t *testing.T, a, b string) *bulk.Draft {
	t.Helper()
	s := bulk.Suggester{Kinds: match.Kinds()}
	show(t, &s, "a.csv", a)
	show(t, &s, "b.csv", b)
	d, err := s.Draft("thing")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func rare(n int) string { return fmt.Sprintf("%c%c%cra", 'A'+n%26, 'b'+n/26, 'a'+n%7) }

// The rows that have rare words in common show the columns that name the things together, whatever the columns are
// called: a hotel alone names no room.
func TestSuggest_NamesThatPartnersShow(t *testing.T) {
	t.Parallel()
	rooms, views := []string{"Twin", "Suite", "Single", "Family", "King"}, []string{"garden", "sea", "city"}
	hotel := func(n int) string { return rare(n/3) + " Inn" }
	d := drafted(t,
		rowsOf("name,room,stars,rate", 120, func(n int) string {
			return fmt.Sprintf("%s,%s %s,%d,%d.50", hotel(n), rooms[n%5], views[n%3], n%4+2, 40+n*13%90)
		}),
		rowsOf("text,price", 120, func(n int) string {
			return fmt.Sprintf("%s %s %s,%d", hotel(n), rooms[n%5], views[n%3], 40+n*17%90)
		}))
	if len(d.Composed) != 1 || d.Composed[0].String() != "text={name} {room}" || d.Schema.Style() != match.StyleTitle {
		t.Errorf("%v, names are compared as %s", d.Composed, d.Schema.Style())
	}
}

// A maker that both files have in a column is no part of the names, although it stands in some of them.
func TestSuggest_NamesWithoutTheirMakers(t *testing.T) {
	t.Parallel()
	styles := []string{"Porter", "Stout", "Lager", "Wild", "Sour"}
	beer := func(n int) string { return rare(n*7%200) + " " + styles[n%5] }
	d := drafted(t,
		rowsOf("title,producer,abv", 160, func(n int) string {
			maker := rare(n / 4)
			return fmt.Sprintf("%s%s,%s Brewing Co.,%d.5", []string{maker + " ", ""}[n%2], beer(n), maker, n%9)
		}),
		rowsOf("beer,brewery,price", 160, func(n int) string { return fmt.Sprintf("%s,%s Brewing,%d", beer(n), rare(n/4), n*13%90) }))
	if len(d.Composed) != 0 {
		t.Errorf("%v", d.Composed)
	}
}

// A file may have nothing that its partners have in their names.
func TestSuggest_NamesThatOneFileLacks(t *testing.T) {
	t.Parallel()
	maker := func(n int) string { return rare(n/2) + " Motors" }
	model := func(n int) string { return rare(n*7%200) + " " + rare(n*3%200) }
	s := bulk.Suggester{Kinds: match.Kinds()}
	show(t, &s, "a.csv", rowsOf("vehicle,producer,title", 120, func(n int) string {
		return fmt.Sprintf("%s,%s,offer %s", model(n), maker(n), rare(n*11%97))
	}))
	show(t, &s, "b.csv", rowsOf("producer,sold", 120, func(n int) string { return fmt.Sprintf("%s,%d", maker(n), n*7919%90000) }))
	show(t, &s, "c.csv", rowsOf("what,title,price", 120, func(n int) string {
		return fmt.Sprintf("%s,%s,%d", model(n), []string{"new", "used", "old"}[n%3], n*13%90)
	}))
	if d, err := s.Draft("thing"); err != nil || d.Naming[0] != "vehicle" || d.Naming[1] != "" || d.Naming[2] != "what" {
		t.Errorf("named by %q: %v", d.Naming, err)
	}
}

// Firms that are spelled in several ways have less in common than their addresses, and are named by their names.
func TestSuggest_NamesAreNotAddresses(t *testing.T) {
	t.Parallel()
	street := func(n int) string {
		return fmt.Sprintf("%d %s Street %s %05d", 100+n*37%900, rare(n*11%200), rare(n*3%200), n*7919%90000)
	}
	d := drafted(t,
		rowsOf("vendor name,street", 120, func(n int) string { return fmt.Sprintf("%s %s Tools Limited,%s", rare(n), rare(n*7%200), street(n)) }),
		rowsOf("supplier name,address", 120, func(n int) string {
			return fmt.Sprintf("The %s %s Tool Co.,%s Suite %d", rare(n), rare(n*7%200), street(n), n%7)
		}))
	if !slices.Equal(d.Naming, []string{"vendor name", "supplier name"}) {
		t.Errorf("named by %q", d.Naming)
	}
}

// A number that is counted with a sign in the names of the other file gets it, and a value that stands in a name already
// is not repeated.
func TestSuggest_ComposedOnce(t *testing.T) {
	t.Parallel()
	series := func(n int) string { return "Red " + rare(n/4) }
	d := drafted(t,
		rowsOf("series,issue,grade", 120, func(n int) string { return fmt.Sprintf("%s,%03d,VF", series(n), n%4*13+2) }),
		rowsOf("title,price", 120, func(n int) string { return fmt.Sprintf("%s #%d,3.99", series(n), n%4*13+2) }))
	if len(d.Composed) != 1 || d.Composed[0].String() != "title={series} #{issue}" {
		t.Fatalf("%v", d.Composed)
	}
	text := "series,issue,grade\nRed Nora,003,VF\nRed Nora 3,3,VF\n"
	plan, err := bulk.Recognise(bulk.Stdin, strings.NewReader(text), []*match.Schema{d.Schema}, &bulk.Options{Composed: d.Composed, Unstored: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := plan.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Red Nora #003", "Red Nora 3"} {
		row, err := r.Next()
		if err != nil || !slices.Equal(row.Attributes["title"], []string{want}) {
			t.Errorf("%v, %v; want %s", row.Attributes, err, want)
		}
	}
}

// Columns of numbers with two names mean the same if the rows of one thing have the same numbers, and other rows do not.
func TestSuggest_NumbersThatPartnersShare(t *testing.T) {
	t.Parallel()
	far := func(n int) int { return n * 7919 % 90000 }
	d := drafted(t,
		rowsOf("title,driven,doors", 120, func(n int) string { return fmt.Sprintf("Volta %s,%d km,%d", rare(n/3), far(n), n%3+2) }),
		rowsOf("title,mileage,seats", 120, func(n int) string {
			return fmt.Sprintf("Volta %s,\"%d,%03d\",%d", rare(n/3), far(n)/1000, far(n)%1000, n%2+4)
		}))
	for _, c := range d.Columns {
		if want, ok := map[string]string{"mileage": "driven", "seats": "seats"}[c.Name]; ok && c.Attribute != want {
			t.Errorf("%s becomes %s", c.Name, c.Attribute)
		}
	}
}

// Dishes with two ingredients are no lists of persons.
func TestSuggest_NamesWithAnd(t *testing.T) {
	t.Parallel()
	got := become(t, rowsOf("name,minutes", 60, func(n int) string { return fmt.Sprintf("%s Soup and %s Bread,%d", rare(n), rare(n+60), n) }))
	if got[0] != "name: name name title" {
		t.Errorf("%q", got)
	}
}
