// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Problem is a place where a log differs from what was written.
type Problem struct {
	Chain string `json:"chain"`
	Seq   int64  `json:"seq"`
	What  string `json:"what"`
}

// Report is the result of a verification.
type Report struct {
	Entries int `json:"entries"`
	Chains  int `json:"chains"`
	// Unended is the number of actions without an entry "ended": they run, or their process died.
	Unended  int       `json:"unended"`
	Problems []Problem `json:"problems,omitempty"`
	// Heads are the newest entries of each chain. Kept elsewhere, they show later that nothing was cut off.
	Heads []Head `json:"heads"`
}

// maxProblems limits Report.Problems.
const maxProblems = 100

// Verify verifies a log. scan calls a function with each row, in the order of positions, and is called twice: first to
// learn which entries are named by others, or were removed because of their age. heads are entries that the log must
// contain. The error is that of scan.
//
// Its memory grows with the number of chains, not of entries.
func Verify(heads []Head, scan func(func(Row)) error) (*Report, error) {
	return verify(heads, false, scan)
}

// VerifyPart is Verify for a log that has the chains of some processes only: a chain that only the start of another one
// names may be missing.
func VerifyPart(heads []Head, scan func(func(Row)) error) (*Report, error) {
	return verify(heads, true, scan)
}

func verify(heads []Head, part bool, scan func(func(Row)) error) (*Report, error) {
	v := &verifier{
		part:   part,
		chains: map[int64]*link{}, named: map[place]string{}, by: map[place]string{}, unended: map[place]string{},
		trimmed: map[place]string{}, since: map[place]string{},
	}
	for _, h := range heads {
		v.name(h, keptElsewhere)
	}
	if err := scan(v.note); err != nil {
		return nil, err
	}
	if err := scan(v.add); err != nil {
		return nil, err
	}
	return v.end(), nil
}

// keptElsewhere names the heads that a caller gives.
const keptElsewhere = "a head that was kept elsewhere"

type verifier struct {
	part    bool
	report  Report
	chains  map[int64]*link
	named   map[place]string // hashes of entries that are named elsewhere
	by      map[place]string // where
	unended map[place]string
	trimmed map[place]string // hashes of the last entries that were removed, by chain
	since   map[place]string // hashes of entries before the first one of a chain
}

// link is the newest entry of a chain.
type link struct {
	seq, at int64
	hash    string
}

type place struct {
	chain string
	seq   int64
}

func (v *verifier) name(h Head, by string) {
	p := place{h.Chain, h.Seq}
	if was, found := v.named[p]; found && was != h.Hash {
		v.fail(p, "%s has another hash than %s", by, v.by[p])
	}
	v.named[p], v.by[p] = h.Hash, by
}

func (v *verifier) fail(p place, format string, args ...any) {
	if len(v.report.Problems) < maxProblems {
		v.report.Problems = append(v.report.Problems, Problem{p.chain, p.seq, fmt.Sprintf(format, args...)})
	}
}

// note records the references of a row to other entries.
func (v *verifier) note(r Row) {
	e, err := r.Entry()
	if err != nil {
		return // add reports it
	}
	if e.Newest != nil {
		v.name(*e.Newest, "the start of chain "+e.Chain)
	}
	for _, h := range e.Trimmed {
		v.trimmed[place{h.Chain, h.Seq}] = h.Hash
	}
}

// add verifies the next row. The rows of one chain come in order; chains may be mixed.
func (v *verifier) add(r Row) {
	p, hash := place{ChainName(r.Chain), r.Seq}, Hash(r.Body)
	v.report.Entries++
	before := v.chains[r.Chain]
	v.chains[r.Chain] = &link{r.Seq, r.At, hash}
	e, err := r.Entry()
	if err != nil {
		v.fail(p, "the entry cannot be read: %v", err)
		return
	}
	switch {
	case before == nil && r.Seq == 1:
		if e.Phase != Start || e.Prev != "" {
			v.fail(p, "the chain does not begin with a start")
		}
	case before == nil:
		v.since[place{p.chain, r.Seq - 1}] = e.Prev // removed because of its age, or a problem
	case r.Seq != before.seq+1:
		v.fail(p, "the entry before it is %d: %d are missing", before.seq, r.Seq-before.seq-1)
	case e.Prev != before.hash:
		v.fail(p, "the entry before it is not the one that was written")
	case r.At < before.at:
		v.fail(p, "it is older than the entry before it")
	}
	v.match(e, p, hash)
}

// match compares an entry with the entries that name it.
func (v *verifier) match(e Entry, p place, hash string) {
	switch {
	case e.Phase == Begun:
		v.unended[p] = hash
	case e.Of != nil:
		if was, found := v.unended[place{e.Of.Chain, e.Of.Seq}]; found && was != e.Of.Hash {
			v.fail(p, "it ends an entry %d of chain %s that is not the one which was written", e.Of.Seq, e.Of.Chain)
		}
		delete(v.unended, place{e.Of.Chain, e.Of.Seq})
	}
	if want, found := v.named[p]; found && want != hash {
		v.fail(p, "it is not the entry that %s names", v.by[p])
	}
}

// end returns the report.
func (v *verifier) end() *Report {
	for p, prev := range v.since {
		if v.trimmed[p] != prev {
			v.fail(place{p.chain, p.seq + 1}, "the entries of its chain before it are missing")
		}
	}
	ends := map[string]int64{}
	for chain, l := range v.chains {
		h := Head{ChainName(chain), l.seq, l.hash}
		v.report.Heads = append(v.report.Heads, h)
		ends[h.Chain] = h.Seq
	}
	for p := range v.named {
		end, found := ends[p.chain]
		switch {
		case v.old(p):
		case !found && v.part && v.by[p] != keptElsewhere:
		case !found:
			v.fail(p, "%s names it, and its chain is missing", v.by[p])
		case p.seq > end:
			v.fail(p, "%s names it, and the chain ends with %d: its end was cut off", v.by[p], end)
		}
	}
	v.report.Chains, v.report.Unended = len(v.chains), len(v.unended)
	slices.SortFunc(v.report.Heads, func(a, b Head) int { return cmp.Compare(a.Chain, b.Chain) })
	slices.SortStableFunc(v.report.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Seq, b.Seq))
	})
	return &v.report
}

// old reports whether an entry was removed because of its age.
func (v *verifier) old(p place) bool {
	for t := range maps.Keys(v.trimmed) {
		if t.chain == p.chain && t.seq >= p.seq {
			return true
		}
	}
	return false
}

// Trim returns those of the oldest rows that may be removed at a time: the ones older than Keep, and an entry that
// records their removal, to be appended in the same transaction. It is nil if there are none.
func Trim(oldest []Row, now time.Time) (old []Position, record *Entry) {
	last := map[int64]Head{}
	for _, r := range oldest {
		if now.Sub(time.UnixMilli(r.At)) <= Keep {
			break
		}
		old = append(old, r.Position)
		last[r.Chain] = r.Head()
	}
	if len(old) == 0 {
		return nil, nil
	}
	record = &Entry{Phase: Sum, Class: Admin, Action: "trim", Targets: []string{fmt.Sprintf("entries=%d", len(old))}}
	for _, chain := range slices.Sorted(maps.Keys(last)) {
		record.Trimmed = append(record.Trimmed, last[chain])
	}
	return old, record
}
