// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/review"
)

// choice is a value of a filter, and how many pairs it selects from the whole list.
type choice struct {
	Value, Text string
	Chosen      bool
}

// filterField is a filter of the form.
type filterField struct {
	Name, Label string
	Choices     []choice
}

// fields returns the form of a filter, with the values that select something.
func fields(f *review.Filter, all []review.Pair) []filterField {
	sources, kinds, attributes, bits := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, p := range all {
		sources[p.A.Source]++
		if p.A.Source != p.B.Source {
			sources[p.B.Source]++
		}
		kinds[p.Kind]++
		bits[review.WholeBits(p.Explanation.Weight)]++
		for _, name := range p.Disagreements() {
			attributes[name]++
		}
	}
	asked := []filterField{
		newField("source", "Source", f.Source, sources, func(s string) string { return s }),
		newField("kind", "Kind", f.Kind, kinds, func(s string) string { return s }),
		newField("bits", "Weight", f.Bits, bits, func(s string) string {
			n, _ := strconv.Atoi(s)
			return fmt.Sprintf("%d to %d bits", n, n+1)
		}),
		newField("attribute", "Disagree in", f.Attribute, attributes, func(s string) string { return s }),
	}
	if named := assignedField(f, all); named != nil {
		asked = append(asked, *named)
	}
	return slices.DeleteFunc(asked, func(f filterField) bool { return len(f.Choices) == 0 })
}

// assignedField is the choice of assignments, nil while no pair is assigned. Pairs assigned to others are omitted at
// first.
func assignedField(f *review.Filter, all []review.Pair) *filterField {
	counts := map[string]int{}
	for _, p := range all {
		if p.Assigned != nil {
			counts[p.Assigned.To]++
		}
	}
	if len(counts) == 0 && (f.Assigned == "" || f.Assigned == review.Open) {
		return nil
	}
	of := func(a string) int {
		n := 0
		g := review.Filter{Assigned: a, Person: f.Person}
		for i := range all {
			if g.Takes(&all[i]) {
				n++
			}
		}
		return n
	}
	field := &filterField{Name: "assigned", Label: "Assigned"}
	add := func(value, text string) {
		chosen := value == f.Assigned || value == review.Open && f.Assigned == ""
		field.Choices = append(field.Choices, choice{value, fmt.Sprintf("%s (%s)", text, count(int64(of(value)))), chosen})
	}
	add(review.Open, "to me or unassigned")
	if f.Person != "" {
		add(review.ToMe, "to me")
	}
	add(review.ToNone, "unassigned")
	if _, word := map[string]bool{"": true, review.Open: true, review.ToMe: true, review.ToNone: true, review.ToAll: true}[f.Assigned]; !word {
		counts[f.Assigned] += 0
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		add(name, "to "+name)
	}
	add(review.ToAll, "all")
	return field
}

// orderField is the choice of the order of the queue.
func orderField(chosen review.Order) filterField {
	f := filterField{Name: "order", Label: "Order"}
	for _, o := range append(review.Orders(), review.Second) {
		name := map[review.Order]string{review.Best: "best first", review.Teaches: "most informative first",
			review.Chance: "random, to estimate the quality", review.Second: "answered by others, for a second opinion"}[o]
		f.Choices = append(f.Choices, choice{string(o), name, o == cmp.Or(chosen, review.Best)})
	}
	return f
}

// newField returns a field, without choices if there is nothing to choose.
func newField(name, label, chosen string, counts map[string]int, say func(string) string) filterField {
	f := filterField{Name: name, Label: label}
	if chosen != "" {
		counts[chosen] += 0
	}
	if len(counts) < 2 && chosen == "" {
		return f
	}
	for value, n := range counts {
		f.Choices = append(f.Choices, choice{value, fmt.Sprintf("%s (%s)", say(value), count(int64(n))), value == chosen})
	}
	slices.SortFunc(f.Choices, func(a, b choice) int { return cmp.Compare(a.Value, b.Value) })
	return f
}

// maxSkipped is how many skipped pairs an address remembers.
const maxSkipped = 50

// ParseSkip returns the skipped pairs that an address names, as Review.Skip takes them.
func ParseSkip(text string) (marks []string) {
	for mark := range strings.SplitSeq(text, ".") {
		if len(mark) == 8 && len(marks) < maxSkipped && !strings.ContainsFunc(mark, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) }) {
			marks = append(marks, mark)
		}
	}
	return marks
}

// skipMark names a pair in an address.
func skipMark(a, b entity.Ref) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(a.String() + "\x00" + b.String()))
	return fmt.Sprintf("%08x", h.Sum32())
}

// left returns the pairs that the filter selects.
func (r *Review) left() []review.Pair {
	return slices.DeleteFunc(slices.Clone(r.Pairs), func(p review.Pair) bool { return !r.Filter.Takes(&p) })
}

// filtered reports whether a filter is chosen.
func (r *Review) filtered() bool {
	f := r.Filter
	if f.Person = ""; f.Assigned == review.Open {
		f.Assigned = ""
	}
	return f != review.Filter{}
}

func (r *Review) skipped(p review.Pair) bool {
	return slices.Contains(r.Skip, skipMark(p.A, p.B))
}

// First returns the pair to show: the first that the filter selects and that is not skipped.
func (r *Review) First() (first review.Pair, some bool) {
	for _, p := range r.left() {
		if !r.skipped(p) {
			return p, true
		}
	}
	return review.Pair{}, false
}

// query returns the parameters of a filter.
func query(f *review.Filter) url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"source": f.Source, "kind": f.Kind, "attribute": f.Attribute, "bits": f.Bits, "assigned": f.Assigned} {
		if value != "" && (name != "assigned" || value != review.Open) {
			q.Set(name, value)
		}
	}
	return q
}

// address returns the URL of a pair with the filter and the skipped pairs, or of the first pair for a zero a.
func (r *Review) address(a, b entity.Ref, skip []string) string {
	q := query(&r.Filter)
	if len(skip) > 0 {
		q.Set("skip", strings.Join(skip, "."))
	}
	if r.Order != review.Best && r.Order != "" {
		q.Set("order", string(r.Order))
	}
	if a.Source != "" {
		q.Set("a", a.String())
		q.Set("b", b.String())
	}
	if len(q) == 0 {
		return "/review"
	}
	return "/review?" + q.Encode()
}
