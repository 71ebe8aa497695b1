// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/locus-db/locus/changelog"
)

// catchUp advances documents to the end of a list of changes: it adds to each the changes after its own
// watermark. The changes begin at the generation's watermark. A document with an older watermark was not touched
// in between, or it would have been written.
type catchUp struct {
	*Definition
	changes []changelog.Change // in order
	to      changelog.Seq      // their end
	total   *delta             // of all changes
}

// newCatchUp adds up changes.
func newCatchUp(d *Definition, changes []changelog.Change, to changelog.Seq) *catchUp {
	fw := &catchUp{Definition: d, changes: changes, to: to, total: newDelta(d)}
	for i := range changes {
		fw.total.change(&changes[i])
	}
	return fw
}

// keys returns the keys of all groups that the changes touch, sorted.
func (fw *catchUp) keys() [][]byte { return fw.total.keys() }

// moved is a document as read and its new body at the end of the changes.
type moved struct {
	Document      // Key is set even if there is no document
	is       bool // whether the document exists
	next     []byte
	grew     int64 // net groups added between the start and the end of the changes
	err      error // why it cannot be computed
}

// found pairs documents with their keys.
func found(keys [][]byte, docs []Document) []moved {
	all := make([]moved, len(keys))
	for i, d := range docs {
		all[i] = moved{Document: d, is: d.Key != nil}
		all[i].Key = keys[i]
	}
	return all
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

// apply computes the documents at the end of the changes. None may be beyond it.
func (fw *catchUp) apply(docs []moved) {
	late := fw.late(docs)
	for i := range docs {
		d := &docs[i]
		rest, ahead := late[i]
		if !ahead {
			rest = fw.total.after(d.Key)
		}
		key := string(d.Key[len(rowGroup):])
		if d.next, d.err = fw.total.applyGroup(key, rest, d.Body); d.err != nil {
			continue
		}
		was := d.Body
		if ahead { // the body where the changes begin
			if was, d.err = fw.total.applyGroup(key, fw.total.lessOf(fw.total.after(d.Key)), d.next); d.err != nil {
				continue
			}
		}
		d.grew = count(len(d.next) > 0) - count(len(was) > 0)
	}
}

// late returns, for each document that already contains some of the changes, the sum of the remaining ones.
func (fw *catchUp) late(docs []moved) map[int]group {
	var ahead []int
	for i, d := range docs {
		if d.is && len(fw.changes) > 0 && d.Watermark >= fw.changes[0].Seq {
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
func insert(docs []moved, keys [][]byte) []moved {
	there := len(docs)
	for _, key := range keys {
		if _, is := slices.BinarySearchFunc(docs[:there], key, func(d moved, key []byte) int { return bytes.Compare(d.Key, key) }); !is {
			docs = append(docs, moved{Document: Document{Key: key}})
		}
	}
	slices.SortFunc(docs, func(a, b moved) int { return bytes.Compare(a.Key, b.Key) })
	return docs
}
