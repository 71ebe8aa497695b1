// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/resolve"
)

// trouble is a period when servers or processes were killed, or one process was suspended.
type trouble struct {
	what     string
	from, to time.Duration
	node     int             // process whose clients may be refused; all if negative
	codes    map[string]bool // codes they may see
}

// killing are the codes that clients may see while servers or processes are killed.
var killing = []httpapi.Code{"connection", httpapi.CodeUnavailable, httpapi.CodeCommitUnknown}

// during runs do, while clients of a process (of all if node is negative) may be refused.
func (tr *traffic) during(what string, node int, codes []httpapi.Code, do func()) trouble {
	t := trouble{what: what, from: tr.now(), node: node, codes: map[string]bool{}}
	for _, c := range codes {
		t.codes[string(c)] = true
	}
	do()
	t.to = tr.now()
	return t
}

// calm checks that clients were refused only during troubles, with the allowed codes.
func (tr *traffic) calm(troubles ...trouble) {
	tr.t.Helper()
	bad := 0
	counts := map[string]int{}
	for _, c := range tr.clients {
		for _, r := range c.faults {
			i := slices.IndexFunc(troubles, func(t trouble) bool {
				return r.call <= t.to && r.ret >= t.from && (t.node < 0 || t.node == r.node) && t.codes[r.code]
			})
			if i >= 0 {
				counts[troubles[i].what+": "+r.code]++
				continue
			}
			if bad++; bad <= 10 {
				tr.t.Errorf("a client of process %d was refused from %v to %v: %s: %s", r.node, r.call, r.ret, r.code, r.text)
			}
		}
	}
	if bad > 10 {
		tr.t.Errorf("%d refusals in all", bad)
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		tr.t.Logf("refused while %s %d times", what, counts[what])
	}
	for _, t := range troubles {
		tr.t.Logf("%s: %v to %v", t.what, t.from.Round(time.Millisecond), t.to.Round(time.Millisecond))
	}
}

// summary is what the clients know at the end.
type summary struct {
	acks, reads, lost, contended int
	puids                        map[int64]entity.PUID   // of each key that was acknowledged
	versions                     map[int64]map[int64]int // by key, the revision of each version
	last                         map[int64]int64         // by key, the highest version
	sent                         map[int64]map[int]bool  // by key, the revisions that were sent
	founded                      map[string]int64        // ids by the key that was given them
	ids                          map[string]int64        // all ids that were answered, with one of their keys
	deleted                      map[int64]bool          // keys that a deletion was sent for
	loaded                       time.Duration           // how long the clients went on
}

// history checks that every answer is possible for one register per key that is set once (linearizability).
func (tr *traffic) history() *summary {
	tr.t.Helper()
	s := &summary{
		puids: map[int64]entity.PUID{}, versions: map[int64]map[int64]int{}, last: map[int64]int64{},
		sent: map[int64]map[int]bool{}, founded: map[string]int64{}, ids: map[string]int64{}, deleted: map[int64]bool{},
	}
	byKey := map[int64][]op{}
	for _, c := range tr.clients {
		for _, o := range c.ops {
			byKey[o.key] = append(byKey[o.key], o)
		}
		for i, revision := range c.revisions {
			s.deleted[i] = s.deleted[i] || revision < 0
		}
	}
	owner := map[entity.PUID]int64{}
	for _, i := range slices.Sorted(maps.Keys(byKey)) {
		ops := byKey[i]
		if got := porcupine.CheckOperationsTimeout(register, operations(ops), time.Minute); got != porcupine.Ok {
			tr.t.Errorf("key %v: what was answered is not what one register answers (%v):\n%s", tr.ref(i), got, tell(ops))
		}
		for _, o := range ops {
			tr.note(s, o)
		}
		if creators(ops) > 1 {
			s.contended++
		}
		if p := s.puids[i]; p != 0 {
			if other, twice := owner[p]; twice {
				tr.t.Errorf("puid %v was given to %v and to %v", p, tr.ref(other), tr.ref(i))
			}
			owner[p] = i
		}
	}
	return s
}

// note adds the facts of one answer.
func (tr *traffic) note(s *summary, o op) {
	if o.kind != opPut {
		s.reads++
		return
	}
	if s.sent[o.key] == nil {
		s.sent[o.key], s.versions[o.key] = map[int]bool{}, map[int64]int{}
	}
	s.sent[o.key][o.revision] = true
	if o.lost {
		s.lost++
		return
	}
	s.acks++
	if p := s.puids[o.key]; p != 0 && p != o.puid {
		tr.t.Errorf("key %v has the puids %v and %v", tr.ref(o.key), p, o.puid)
	}
	s.puids[o.key] = o.puid
	s.ids[o.result.Entity.String()] = o.key
	s.last[o.key] = max(s.last[o.key], o.result.Version)
	switch o.result.Outcome {
	case resolve.Created:
		id := o.result.Entity.String()
		if other, twice := s.founded[id]; twice && other != o.key {
			tr.t.Errorf("id %s was given to %v and to %v", id, tr.ref(other), tr.ref(o.key))
		}
		s.founded[id] = o.key
	case resolve.Updated, resolve.Matched:
	default:
		return
	}
	if revision, twice := s.versions[o.key][o.result.Version]; twice && revision != o.revision {
		tr.t.Errorf("key %v: version %d is revision %d and %d", tr.ref(o.key), o.result.Version, revision, o.revision)
	}
	s.versions[o.key][o.result.Version] = o.revision
}

// creators returns how many puts of a key had begun before one of them was answered.
func creators(ops []op) (n int) {
	first := time.Duration(math.MaxInt64)
	for _, o := range ops {
		if o.kind == opPut && !o.lost {
			first = min(first, o.ret)
		}
	}
	for _, o := range ops {
		if o.kind == opPut && o.call < first {
			n++
		}
	}
	return n
}

// set is the state of a register after a write whose value is unknown.
const set = entity.PUID(math.MinInt64)

// register is the model of one key: 0 until it is set, then constant.
var register = porcupine.Model{
	Init: func() any { return entity.PUID(0) },
	Step: func(state, input, output any) (bool, any) {
		now, o := state.(entity.PUID), input.(op)
		switch {
		case o.lost && now == 0:
			return true, set
		case o.lost:
			return true, now
		case o.kind == opErased:
			return now != 0, now
		case o.kind == opRead && o.puid == 0:
			return now == 0, now
		case o.kind == opRead && now == 0:
			return false, now
		default:
			return now == 0 || now == set || now == o.puid, o.puid
		}
	},
}

func operations(ops []op) []porcupine.Operation {
	list := make([]porcupine.Operation, len(ops))
	for i, o := range ops {
		list[i] = porcupine.Operation{Input: o, Call: int64(o.call), Return: int64(o.ret)}
		if o.lost {
			list[i].Return = math.MaxInt64
		}
	}
	return list
}

func tell(ops []op) string {
	var b strings.Builder
	slices.SortFunc(ops, func(a, b op) int { return int(a.call - b.call) })
	for _, o := range ops {
		what := [...]string{"put", "read", "erased"}[o.kind]
		fmt.Fprintf(&b, "%v to %v at process %d: %s revision %d, lost %t: puid %v, %s\n", o.call, o.ret, o.node, what,
			o.revision, o.lost, o.puid, o.result.Outcome)
	}
	return b.String()
}
