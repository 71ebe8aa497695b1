// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/locus-db/locus/changelog"
)

// forward takes documents from where each of them is to the end of some changes: to each it adds what lies
// after its own watermark. The changes begin where the generation's watermark is, or was. A document that is
// further back than that was touched by nothing in between, or it would have been written.
type forward struct {
	*Definition
	changes []changelog.Change // in order
	to      changelog.Seq      // where they end
	total   *delta             // of all of them
}

// newForward adds up changes.
func newForward(d *Definition, changes []changelog.Change, to changelog.Seq) *forward {
	fw := &forward{Definition: d, changes: changes, to: to, total: newDelta(d)}
	for i := range changes {
		fw.total.change(&changes[i])
	}
	return fw
}

// keys are those of all groups that the changes touch, in order.
func (fw *forward) keys() [][]byte { return fw.total.keys() }

// moved is a document where it was found, and what it is at the end of the changes.
type moved struct {
	Document      // Key is set though there is none
	is       bool // whether there is one
	next     []byte
	grew     int64 // how many groups there are more at the end of the changes than where they begin
	err      error // why it cannot be added up
}

// found puts the documents of keys with these.
func found(keys [][]byte, docs []Document) []moved {
	all := make([]moved, len(keys))
	for i, d := range docs {
		all[i] = moved{Document: d, is: d.Key != nil}
		all[i].Key = keys[i]
	}
	return all
}

// after is what a delta makes of the group of a row's key.
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

// apply works out what the documents are at the end. None may be beyond it.
func (fw *forward) apply(docs []moved) {
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
		if ahead { // what it was where the changes begin
			if was, d.err = fw.total.applyGroup(key, fw.total.lessOf(fw.total.after(d.Key)), d.next); d.err != nil {
				continue
			}
		}
		d.grew = count(len(d.next) > 0) - count(len(was) > 0)
	}
}

// late are the documents that contain some of the changes, with what the others make of them.
func (fw *forward) late(docs []moved) map[int]group {
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
	for i := len(fw.changes) - 1; i >= 0; i-- { // from the end, so that each document stops at its own place
		c := &fw.changes[i]
		for ; len(ahead) > 0 && docs[ahead[0]].Watermark >= c.Seq; ahead = ahead[1:] {
			late[ahead[0]] = dl.after(docs[ahead[0]].Key)
		}
		dl.change(c)
	}
	return late
}

// lessOf is what takes changes back.
func (d *Definition) lessOf(g group) group {
	less := make(group, len(g))
	for i, s := range g {
		less[i] = dimensioned{s.value, d.less(s.slot)}
	}
	return less
}

// insert puts groups that have no document yet where they belong.
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
