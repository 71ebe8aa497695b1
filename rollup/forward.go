// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/locus-db/locus/changelog"
)

// CatchUp advances groups that are elsewhere to the end of a list of changes: it adds to each the changes after its
// own watermark. The changes begin at the generation's watermark. A group with an older watermark was not touched in
// between, or it would have been written.
type CatchUp struct {
	*Definition
	changes []changelog.Change // in order
	to      changelog.Seq      // their end
	total   *delta             // of all changes
}

// newCatchUp adds up changes.
func newCatchUp(d *Definition, changes []changelog.Change, to changelog.Seq) *CatchUp {
	fw := &CatchUp{Definition: d, changes: changes, to: to, total: newDelta(d)}
	for i := range changes {
		fw.total.change(&changes[i])
	}
	return fw
}

// To returns the position of the last change.
func (fw *CatchUp) To() changelog.Seq { return fw.to }

// Keys returns the keys of all groups that the changes touch, sorted.
func (fw *CatchUp) Keys() [][]byte { return fw.total.keys() }

// Moved is a group as it was read elsewhere, with the log position up to which it is true, and its new body at the end
// of the changes. An empty body means an empty group.
type Moved struct {
	Key, Body []byte
	Watermark changelog.Seq
	Is        bool // whether it is stored; Key is set in any case
	Next      []byte

	grew int64 // net groups added between the start and the end of the changes
	err  error // why it cannot be computed
}

// after returns the delta's change to the group with a row key.
func (dl *delta) after(key []byte) group {
	if g := dl.groups[string(key[len(rowGroup):])]; g != nil {
		return g.clone()
	}
	return nil
}

func (g *group) clone() group {
	c := slices.Clone(*g)
	for i := range c {
		c[i].slot = slices.Clone(c[i].slot)
	}
	return c
}

// Apply sets Next of each group. None may be beyond the changes.
func (fw *CatchUp) Apply(docs []Moved) {
	late := fw.late(docs)
	for i := range docs {
		d := &docs[i]
		rest, ahead := late[i]
		if !ahead {
			rest = fw.total.after(d.Key)
		}
		key := string(d.Key[len(rowGroup):])
		if d.Next, d.err = fw.total.applyGroup(key, rest, d.Body); d.err != nil {
			continue
		}
		was := d.Body
		if ahead { // the body where the changes begin
			if was, d.err = fw.total.applyGroup(key, fw.total.lessOf(fw.total.after(d.Key)), d.Next); d.err != nil {
				continue
			}
		}
		d.grew = count(len(d.Next) > 0) - count(len(was) > 0)
	}
}

// Fits returns the net number of groups that an Apply adds to the generation. The error says why a group cannot be
// written, or that there would be too many.
func (fw *CatchUp) Fits(g *Generation, docs []Moved) (groups int64, err error) {
	for _, d := range docs {
		if groups += d.grew; d.err == nil {
			d.err = fw.bounded(d.Key, d.Next)
		}
		if d.err != nil {
			return 0, unfit{d.err}
		}
	}
	if g.Groups+groups > maxGroups {
		return 0, unfit{tooMany(&g.Definition)}
	}
	return groups, nil
}

// late returns, for each document that already contains some of the changes, the sum of the remaining ones.
func (fw *CatchUp) late(docs []Moved) map[int]group {
	var ahead []int
	for i, d := range docs {
		if d.Is && len(fw.changes) > 0 && d.Watermark >= fw.changes[0].Seq {
			ahead = append(ahead, i)
		}
	}
	if len(ahead) == 0 {
		return nil
	}
	slices.SortFunc(ahead, func(i, j int) int { return cmp.Compare(docs[j].Watermark, docs[i].Watermark) })
	late := make(map[int]group, len(ahead))
	dl := newDelta(fw.Definition)
	for i := len(fw.changes) - 1; i >= 0; i-- { // backwards, so that each document stops at its own position
		c := &fw.changes[i]
		for ; len(ahead) > 0 && docs[ahead[0]].Watermark >= c.Seq; ahead = ahead[1:] {
			late[ahead[0]] = dl.after(docs[ahead[0]].Key)
		}
		dl.change(c)
	}
	return late
}

// lessOf returns the negative of a group.
func (d *Definition) lessOf(g group) group {
	less := make(group, len(g))
	for i, s := range g {
		less[i] = dimensioned{s.value, d.less(s.slot)}
	}
	return less
}

// insert adds groups without a document at their sorted position.
func insert(docs []Moved, keys [][]byte) []Moved {
	there := len(docs)
	for _, key := range keys {
		if _, is := slices.BinarySearchFunc(docs[:there], key, func(d Moved, key []byte) int { return bytes.Compare(d.Key, key) }); !is {
			docs = append(docs, Moved{Key: key})
		}
	}
	slices.SortFunc(docs, func(a, b Moved) int { return bytes.Compare(a.Key, b.Key) })
	return docs
}
