// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// ReviewFilter selects pairs of the review queue. The zero value selects all.
type ReviewFilter struct {
	Source    string // one of the records is of this source
	Kind      string
	Attribute string // the pair disagrees in it
	Bits      string // the match weight has these whole bits
}

// takes reports whether a pair is selected.
func (f ReviewFilter) takes(p decisions.ReviewPair) bool {
	return (f.Source == "" || p.A.Source == f.Source || p.B.Source == f.Source) &&
		(f.Kind == "" || p.Kind == f.Kind) &&
		(f.Bits == "" || wholeBits(p.Explanation.Weight) == f.Bits) &&
		(f.Attribute == "" || slices.Contains(disagreements(p), f.Attribute))
}

func wholeBits(w match.Weight) string { return strconv.Itoa(int(w) / 100) }

// disagreements returns the attributes that weigh against a pair.
func disagreements(p decisions.ReviewPair) (names []string) {
	for _, l := range p.Explanation.Lines {
		if l.Weight < 0 {
			names = append(names, l.Attribute)
		}
	}
	return names
}

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

// fields returns the form of the filters, with the values that select something.
func (f ReviewFilter) fields(all []decisions.ReviewPair) []filterField {
	sources, kinds, attributes, bits := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, p := range all {
		sources[p.A.Source]++
		if p.A.Source != p.B.Source {
			sources[p.B.Source]++
		}
		kinds[p.Kind]++
		bits[wholeBits(p.Explanation.Weight)]++
		for _, name := range disagreements(p) {
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
	return slices.DeleteFunc(asked, func(f filterField) bool { return len(f.Choices) == 0 })
}

// orderField is the choice of the order of the queue.
func orderField(chosen decisions.Order) filterField {
	f := filterField{Name: "order", Label: "Order"}
	for _, o := range decisions.Orders() {
		name := map[decisions.Order]string{decisions.Best: "best first", decisions.Teaches: "what teaches most first", decisions.Chance: "by chance, to estimate the quality"}[o]
		f.Choices = append(f.Choices, choice{string(o), name, o == cmp.Or(chosen, decisions.Best)})
	}
	return f
}

// newField has no choices if there is nothing to choose.
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
func (r *Review) left() []decisions.ReviewPair {
	if r.Filter == (ReviewFilter{}) {
		return r.Pairs
	}
	return slices.DeleteFunc(slices.Clone(r.Pairs), func(p decisions.ReviewPair) bool { return !r.Filter.takes(p) })
}

func (r *Review) skipped(p decisions.ReviewPair) bool {
	return slices.Contains(r.Skip, skipMark(p.A, p.B))
}

// First returns the pair to show: the first that the filter selects and that is not skipped.
func (r *Review) First() (first decisions.ReviewPair, some bool) {
	for _, p := range r.left() {
		if !r.skipped(p) {
			return p, true
		}
	}
	return decisions.ReviewPair{}, false
}

// address returns the URL of a pair with the filter and the skipped pairs, or of the first pair for a zero a.
func (r *Review) address(a, b entity.Ref, skip []string) string {
	q := url.Values{}
	for name, value := range map[string]string{
		"source": r.Filter.Source, "kind": r.Filter.Kind, "attribute": r.Filter.Attribute, "bits": r.Filter.Bits, "skip": strings.Join(skip, "."),
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if r.Order != decisions.Best && r.Order != "" {
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
