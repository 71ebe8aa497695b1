// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/learn"
	"github.com/locus-db/locus/match"
)

// people returns records of n persons, and for every third person a second record with mistakes.
func people(n int) []match.Attributes {
	random := rand.New(rand.NewPCG(7, uint64(n)))
	word := func(parts ...string) string {
		text := ""
		for range 3 {
			text += parts[random.IntN(len(parts))]
		}
		return text
	}
	typo := func(s string) string {
		at := random.IntN(len(s))
		return s[:at] + string(rune('a'+random.IntN(26))) + s[at+1:]
	}
	var all []match.Attributes
	for i := range n {
		a := match.Attributes{
			"given_name":  {word("ka", "lo", "mi", "ne", "ro", "su", "ta")},
			"family_name": {word("ber", "dal", "gor", "hil", "lam", "mer", "stan", "tor", "wick")},
			"birth_date":  {fmt.Sprintf("19%02d-%02d-%02d", 30+random.IntN(60), 1+random.IntN(12), 1+random.IntN(28))},
			"city":        {word("al", "bro", "cen", "dor")},
		}
		all = append(all, a)
		if i%3 > 0 {
			continue
		}
		b := match.Attributes{"given_name": a["given_name"], "family_name": a["family_name"], "birth_date": a["birth_date"], "city": a["city"]}
		for range 1 + random.IntN(2) {
			of := []string{"given_name", "family_name", "city"}[random.IntN(3)]
			b[of] = []string{typo(b[of][0])}
		}
		all = append(all, b)
	}
	return all
}

// timid is a kind of persons whose prior is suited to many more records.
func timid() *match.Schema {
	kind := *match.Person()
	kind.Prior = -1000
	return &kind
}

// building returns n shops of some buildings, which share much and are different things.
func building(n int) []match.Attributes {
	random := rand.New(rand.NewPCG(11, uint64(n)))
	var all []match.Attributes
	for i := range n {
		house := i / 6
		all = append(all, match.Attributes{
			"name":     {fmt.Sprintf("Shop %c%c %c%c%c", 'a'+random.IntN(26), 'a'+random.IntN(26), 'a'+random.IntN(26), 'e'+random.IntN(20), 'a'+random.IntN(26))},
			"address":  {fmt.Sprintf("%d Long Street", 100+house)},
			"phones":   {fmt.Sprintf("+1415555%04d", house)},
			"city":     {fmt.Sprintf("Town %d", house%40)},
			"postcode": {fmt.Sprintf("94%03d", house)},
		})
		if i%4 == 0 {
			all = append(all, match.Attributes{"name": all[len(all)-1]["name"], "address": all[len(all)-1]["address"], "phones": all[len(all)-1]["phones"]})
		}
	}
	return all
}

func draft(t *testing.T, kind *match.Schema, all []match.Attributes, order []int) *learn.Draft {
	t.Helper()
	m := match.New(kind, nil)
	records := make([]*match.Record, len(all))
	for to, from := range order {
		records[to] = m.Normalise("set", fmt.Sprintf("%06d", from), all[from])
	}
	return learn.Weights(m.Among(match.CountNames(records)), records)
}

func inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// A draft for people with typing errors finds the pairs that weights of little confidence leave as possible.
func TestWeights_LearnsWhatAgreementMeans(t *testing.T) {
	t.Parallel()
	all := people(600)
	d := draft(t, timid(), all, inOrder(len(all)))
	if reasons := d.Refused(); reasons != nil {
		t.Fatalf("refused: %v", reasons)
	}
	if d.Schema.Prior >= -500 || d.Schema.Prior < -1500 {
		t.Errorf("the prior of 200 matches among 320,000 pairs is %v, want about -10.6", d.Schema.Prior)
	}
	if d.Matches < 190 || d.Matches > 210 {
		t.Errorf("%d pairs match, want about 200", d.Matches)
	}
	for _, l := range d.Levels {
		if l.Field == "date" && l.Text == "equal" && (l.Match < .9 || l.After <= l.Before) {
			t.Errorf("equal dates, which all matches have: %+v", l)
		}
		if l.Field == "city" && l.Text == "different" && l.After >= 0 {
			t.Errorf("a different city speaks for a match: %+v", l)
		}
	}
	if _, err := match.ParseSchema(d.Schema.YAML()); err != nil {
		t.Errorf("the draft is not a kind: %v", err)
	}
}

// Weights of levels that no pair has move with those that pairs have, so that rarer agreement does not weigh less.
func TestWeights_UnseenLevelsFollow(t *testing.T) {
	t.Parallel()
	all := people(600)
	d := draft(t, match.Person(), all, inOrder(len(all)))
	w := d.Schema.Weights["date"]
	if before, after := match.Person().Weights["date"], w["day and month swapped"]; after <= 700 || w["equal"] <= after {
		t.Errorf("swapped dates, which no pair has, weigh %v, equal ones %v; today %v", after, w["equal"], before)
	}
}

// The estimates for both tables without labels are close to the true values.
func TestWeights_EstimateIsNearTheTruth(t *testing.T) {
	t.Parallel()
	all := people(600)
	d := draft(t, timid(), all, inOrder(len(all)))
	for what, of := range map[string]struct {
		kind     *match.Schema
		estimate learn.Quality
	}{"today": {timid(), d.Today}, "learned": {d.Schema, d.Learned}} {
		m := match.New(of.kind, nil)
		var records []*match.Record
		for i, a := range all {
			records = append(records, m.Normalise("set", fmt.Sprintf("%06d", i), a))
		}
		m = m.Among(match.CountNames(records))
		var found, right float64
		for _, p := range match.Candidates(records) {
			if m.Decide(m.Compare(records[p[0]], records[p[1]])) == match.Same {
				found++
				if a, b := min(p[0], p[1]), max(p[0], p[1]); a%4 == 0 && b == a+1 { // of four records the first two are one person
					right++
				}
			}
		}
		precision, recall := right/found, right/200
		if q := of.estimate; math.Abs(q.Precision-precision) > .02 || math.Abs(q.Recall-recall) > .02 {
			t.Errorf("%s: precision %.3f and recall %.3f, estimated %+v", what, precision, recall, q)
		}
	}
}

// Weights that find all matches stay: a draft that decides alike is not better.
func TestWeights_NothingToGain(t *testing.T) {
	t.Parallel()
	all := people(600)
	d := draft(t, match.Person(), all, inOrder(len(all)))
	if reasons := d.Refused(); len(reasons) != 1 || d.Today.F1 < .99 || d.Gain > 2*d.Error {
		t.Errorf("refused: %v; today %+v, gain %v", reasons, d.Today, d.Gain)
	}
}

// shops returns n products that two shops list, each at most once, and the names of the shops. Half of the second
// shop's products are the first one's, with a different word.
func shops(n int) (all []match.Attributes, sources []string) {
	random := rand.New(rand.NewPCG(29, uint64(n)))
	word := func() string {
		return fmt.Sprintf("w%c%c%c", 'a'+random.IntN(26), 'a'+random.IntN(26), 'a'+random.IntN(26))
	}
	for i := range n {
		a := []string{"Lamp", word(), word(), word()}
		all, sources = append(all, match.Attributes{"title": {strings.Join(a, " ")}}), append(sources, "one")
		b := slices.Clone(a)
		if i%2 == 0 {
			b[1+random.IntN(3)] = word()
		} else {
			b[1], b[2] = word(), word()
		}
		all, sources = append(all, match.Attributes{"title": {strings.Join(b, " ")}}), append(sources, "two")
	}
	return all, sources
}

// If two shops list nothing twice, each product has at most one partner, however many it agrees with.
func TestWeights_OnePartner(t *testing.T) {
	t.Parallel()
	kind := *match.Product()
	kind.Sources = map[string]match.Source{"one": {Deduplicated: true}, "two": {Deduplicated: true}}
	all, sources := shops(300)
	m := match.New(&kind, nil)
	var records []*match.Record
	for i := range all {
		records = append(records, m.Normalise(sources[i], fmt.Sprint(i), all[i]))
	}
	d := learn.Weights(m.Among(match.CountNames(records)), records)
	if d.Matches > 300 {
		t.Errorf("%d matches of 300 products", d.Matches)
	}
	for _, q := range []learn.Quality{d.Today, d.Learned} {
		if q.Precision > 1 || q.Recall > 1 {
			t.Errorf("%+v", q)
		}
	}
}

// The shops of one building agree in all but their names: fields are not independent, and the draft is refused.
func TestWeights_NeighboursAreRefused(t *testing.T) {
	t.Parallel()
	all := building(480)
	d := draft(t, match.Place(), all, inOrder(len(all)))
	if len(d.Refused()) == 0 {
		t.Errorf("the draft was not refused: %d matches, contradicted %.3f, today %+v, learned %+v", d.Matches, d.Contradicted, d.Today, d.Learned)
	}
}

func TestWeights_OrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	all := people(150)
	want := draft(t, match.Person(), all, inOrder(len(all)))
	for seed := range uint64(2) {
		got := draft(t, match.Person(), all, rand.New(rand.NewPCG(seed, 0)).Perm(len(all)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("in another order (-want +got)\n%s", diff)
		}
	}
}

func TestWeights_NothingToLearnFrom(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2} {
		all := people(3)[:n]
		d := draft(t, match.Person(), all, inOrder(len(all)))
		if len(d.Refused()) == 0 {
			t.Errorf("%d records: the draft was not refused", n)
		}
		if _, err := match.ParseSchema(d.Schema.YAML()); err != nil {
			t.Errorf("%d records: %v", n, err)
		}
	}
}

// Names of firms without anything besides them are one kind of evidence, from which nothing can be learned.
func TestWeights_NamesAlone(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	var records []*match.Record
	for i := range 400 {
		name := fmt.Sprintf("Kant%cr%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i*7%26)
		for j, rest := range []string{" Logistics", " Logistics Ltd", " Trading"} {
			records = append(records, m.Normalise("s", fmt.Sprint(i, j), match.Attributes{"name": {name + rest}}))
		}
	}
	if d := learn.Weights(m, records); !d.NamesAlone || len(d.Refused()) == 0 {
		t.Errorf("taken: %+v", d)
	}
}

func TestDraft_Refused(t *testing.T) {
	t.Parallel()
	good := learn.Draft{Matches: 200, Known: 100, Seen: 20, Gain: .02, Error: .005, Stable: 1}
	for _, tt := range []struct {
		name string
		do   func(*learn.Draft)
		want string
	}{
		{"good", func(*learn.Draft) {}, ""},
		{"few matches", func(d *learn.Draft) { d.Matches, d.Seen = 9, 0 }, "9 matches are too few"},
		{"few matches for its levels", func(d *learn.Draft) { d.Matches-- }, "199 matches are too few to learn from, at least 200 are needed for 20 levels"},
		{"names alone", func(d *learn.Draft) { d.NamesAlone = true }, "only names were compared"},
		{"contradicted", func(d *learn.Draft) { d.Contradicted = .6 }, "call 60.0 % of the likely matches different"},
		{"no better", func(d *learn.Draft) { d.Gain = .01 }, "are not better"},
		{"joins other things", func(d *learn.Draft) { d.Known-- }, "find 200 matches, more than 2 times the 99 of today's"},
		{"different identifiers", func(d *learn.Draft) { d.Opposed = .2 }, "20.0 % of what the learned weights join have different identifiers"},
		{"unstable", func(d *learn.Draft) { d.Stable = .8 }, "agree on 80.0 %"},
	} {
		d := good
		tt.do(&d)
		if got := strings.Join(d.Refused(), "; "); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// goods returns products that two shops describe in words of their own.
func goods(n int) []match.Attributes {
	random := rand.New(rand.NewPCG(23, uint64(n)))
	words := func(of, count int) string {
		var b strings.Builder
		for range count {
			fmt.Fprintf(&b, "w%s ", strings.Repeat(string(rune('a'+random.IntN(26))), 2+random.IntN(of)))
		}
		return b.String()
	}
	var all []match.Attributes
	for i := range n {
		title, about := words(4, 3), words(6, 8)
		all = append(all, match.Attributes{"title": {title}, "description": {about}})
		if i%3 == 0 {
			all = append(all, match.Attributes{"title": {title + words(2, 1)}, "description": {about + words(6, 2)}})
		}
	}
	return all
}

// The levels of text are learned like those of other lines.
func TestWeights_OfText(t *testing.T) {
	t.Parallel()
	all := goods(300)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	d := draft(t, match.Product(), all, order)
	if len(d.Schema.Weights["text"]) == 0 || d.Schema.Weights["text"]["most in common"] <= d.Schema.Weights["text"]["little in common"] {
		t.Errorf("learned of text: %v", d.Schema.Weights["text"])
	}
	if err := d.Schema.Validate(); err != nil {
		t.Error(err)
	}
}

// Different ids of one source overrule all else, by more bits than a kind may say: a draft leaves them out.
func TestWeights_LeavesOutWhatDecides(t *testing.T) {
	t.Parallel()
	s := match.Person()
	s.Attributes = append(s.Attributes, match.Attribute{Name: "number", Type: match.TypeID})
	m := match.New(s, nil)
	var records []*match.Record
	for i, a := range people(300) {
		a["number"] = []string{fmt.Sprint(i / 2)}
		records = append(records, m.Normalise("s", fmt.Sprint(i), a))
	}
	d := learn.Weights(m, records)
	if _, is := d.Schema.Weights["id"]["different"]; is {
		t.Errorf("weights of ids: %v", d.Schema.Weights["id"])
	}
	if err := d.Schema.Validate(); err != nil {
		t.Error(err)
	}
}

// groups returns firms, every second of which has a sister at its address with another VAT number and a longer name. Both
// are listed twice, with and without a mistake, and some rows lack the number.
func groups(n int) (all []match.Attributes) {
	random := rand.New(rand.NewPCG(31, uint64(n)))
	letter := func() string { return string(rune('a' + random.IntN(26))) }
	for i := range n {
		word := letter() + "o" + letter() + letter() + "i" + letter() + letter() + "a" + letter()
		for sister := range 1 + i%2 {
			a := match.Attributes{
				"name": {word + []string{"", " Polska"}[sister] + " GmbH"}, "address": {fmt.Sprintf("%d Mill Road", i)},
				"city": {"Town"}, "postcode": {fmt.Sprintf("1%04d", i)}, "tax_id": {fmt.Sprintf("DE%09d", 100000000+random.IntN(900000000))},
			}
			for copied := range 2 {
				b := maps.Clone(a)
				if copied > 0 {
					b["name"] = []string{strings.Replace(a["name"][0], word, word[:3]+letter()+word[4:], 1)}
					if random.IntN(2) == 0 {
						b["address"] = []string{fmt.Sprintf("%d Station Road", random.IntN(1000))}
					}
				}
				if random.IntN(3) == 0 {
					delete(b, "tax_id")
				}
				all = append(all, b)
			}
		}
	}
	return all
}

// Identifiers that differ never weigh less than today: the fit takes the firms of one group for one thing.
func TestWeights_KeepsDifferentIdentifiers(t *testing.T) {
	t.Parallel()
	all := groups(300)
	d := draft(t, match.Place(), all, inOrder(len(all)))
	i := slices.IndexFunc(d.Levels, func(l learn.Level) bool { return l.Field == "id" && l.Text == "other" })
	if i < 0 || d.Levels[i].After > d.Levels[i].Before {
		t.Errorf("different numbers: %+v", d.Levels)
	}
}
