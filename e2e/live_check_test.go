// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// judge ends the clients and checks the run: the history of answers, that clients were refused only during troubles,
// and the stored data.
func (tr *traffic) judge(troubles ...trouble) *summary {
	tr.t.Helper()
	tr.end()
	loaded := tr.now()
	s := tr.history()
	s.loaded = loaded
	tr.calm(troubles...)
	tr.check(s)
	return s
}

// check compares the stored data with the acknowledged writes, after the clients have ended.
func (tr *traffic) check(s *summary) {
	tr.t.Helper()
	tr.fleet.drained()
	base := tr.fleet.nodes[0].url()
	records, err := allRecords(base)
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.checkRecords(s, records)
	tr.checkEntities(base, records)
	tr.checkIDs(s, records)
}

// checkRecords checks that everything acknowledged is stored once, in the acknowledged revision or in one sent later.
func (tr *traffic) checkRecords(s *summary, records map[entity.Ref]httpapi.Record) {
	tr.t.Helper()
	known := map[entity.Ref]bool{}
	for i := range tr.issued.Load() + 1 {
		ref := tr.ref(i)
		if s.sent[i] == nil {
			continue
		}
		known[ref] = true
		r, there := records[ref]
		switch {
		case !there && s.puids[i] != 0 && !s.deleted[i]:
			tr.t.Errorf("record %v was acknowledged and is lost", ref)
			continue
		case !there:
			continue
		case s.puids[i] != 0 && r.PUID != s.puids[i]:
			tr.t.Errorf("record %v has the puid %v, acknowledged was %v", ref, r.PUID, s.puids[i])
		case r.Version < s.last[i]:
			tr.t.Errorf("record %v is version %d, acknowledged was %d", ref, r.Version, s.last[i])
		}
		if revision, acknowledged := s.versions[i][r.Version]; acknowledged {
			if want := tr.record(i, revision).Attributes; !cmp.Equal(want, r.Attributes) {
				tr.t.Errorf("record %v, version %d, is %v, acknowledged was %v", ref, r.Version, r.Attributes, want)
			}
		} else if !slices.ContainsFunc(slices.Collect(maps.Keys(s.sent[i])), func(revision int) bool {
			return cmp.Equal(tr.record(i, revision).Attributes, r.Attributes)
		}) {
			tr.t.Errorf("record %v is %v, which nobody has sent", ref, r.Attributes)
		}
	}
	for ref := range records {
		if !known[ref] {
			tr.t.Errorf("record %v was never sent", ref)
		}
	}
}

// checkEntities checks that each record is in exactly one entity, and that the entities equal those of a new resolution
// of the stored records.
func (tr *traffic) checkEntities(base string, records map[entity.Ref]httpapi.Record) {
	tr.t.Helper()
	got := partition(tr.t, base)
	var stored []*entity.Record
	for ref, r := range records {
		stored = append(stored, &entity.Record{PUID: r.PUID, Ref: ref, Attributes: entity.Attributes(r.Attributes)})
	}
	var want []string
	for _, members := range resolve.Batch(match.New(match.Place(), match.DefaultTermFrequencies()), stored) {
		var keys []string
		for _, m := range members {
			keys = append(keys, m.Ref.String())
		}
		slices.Sort(keys)
		want = append(want, strings.Join(keys, " "))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		tr.t.Errorf("entities (-from nothing +grown):\n%.4000s", diff)
	}
	tr.t.Logf("%d records in %d entities, as if they were resolved at once from nothing", len(records), len(got))
}

// checkIDs checks that every id ever returned resolves to the entity of the record that was born with it.
func (tr *traffic) checkIDs(s *summary, records map[entity.Ref]httpapi.Record) {
	tr.t.Helper()
	type lead struct {
		id  string
		key int64
	}
	ids := make(chan lead, len(s.ids))
	for id, key := range s.ids {
		ids <- lead{id, key}
	}
	close(ids)
	var all sync.WaitGroup
	for w := range 2 * len(tr.fleet.nodes) {
		n := tr.fleet.nodes[w%len(tr.fleet.nodes)]
		all.Go(func() {
			for l := range ids {
				var e httpapi.Entity
				err := n.get("/v1/entities/"+l.id, &e)
				if p, ok := errors.AsType[*httpapi.Problem](err); ok && p.Code == httpapi.CodeErased && s.mayBeErased(l.id) {
					continue
				}
				if err != nil {
					tr.t.Errorf("id %s of %v leads nowhere: %v", l.id, tr.ref(l.key), err)
					continue
				}
				if key, born := s.founded[l.id]; born && !s.deleted[key] {
					ref := tr.ref(key)
					if !slices.ContainsFunc(e.Members, func(m entity.Member) bool { return m.Ref == ref }) || records[ref].Entity != e.ID {
						tr.t.Errorf("id %s was born with %v and leads to %s, which is not its entity", l.id, ref, e.ID)
					}
				}
			}
		})
	}
	all.Wait()
}

// mayBeErased reports whether the record with this birth id was deleted. A record that joins an entity returns the id
// of another record. That is harmless, because only passing records are deleted, which join nothing.
func (s *summary) mayBeErased(id string) bool { return s.deleted[s.ids[id]] }

// checkRows reads the cells: no key has two rows that disagree, and each acknowledged record is in the cell that its
// puid named from the beginning. before are earlier maps. It returns the number of key rows.
func (tr *traffic) checkRows(s *summary, cells *storage.Cells, before ...*cell.Map) (rows int) {
	tr.t.Helper()
	m, ctx := cells.Map(), tr.t.Context()
	puids := map[cell.Key]int64{}
	for _, id := range m.Cells() {
		look(tr.t, cells, id, func(tx storage.Tx) error {
			found, err := tx.Scan(ctx, nil, 1<<20)
			for _, row := range found {
				if other, twice := puids[row.Key]; twice && other != row.PUID {
					tr.t.Errorf("key %x of cell %v has the puids %d and %d", row.Key.Digest, id, other, row.PUID)
				}
				puids[row.Key] = row.PUID
			}
			return err
		})
	}
	homes := map[cell.ID][]entity.PUID{}
	for i, p := range s.puids {
		ref := tr.ref(i)
		if row := puids[m.KeyOf(ref.Source, ref.Key)]; row != int64(p) {
			tr.t.Errorf("key %v leads to puid %d, acknowledged was %v", ref, row, p)
		}
		home, err := m.Puid(int64(p))
		if err != nil {
			tr.t.Errorf("puid %v of %v: %v", p, ref, err)
			continue
		}
		for _, old := range before {
			if first, err := old.Puid(int64(p)); err == nil && first != home {
				tr.t.Errorf("puid %v was in cell %v and is in %v", p, first, home)
			}
		}
		homes[home] = append(homes[home], p)
	}
	for id, want := range homes {
		look(tr.t, cells, id, func(tx storage.Tx) error {
			found, err := tx.Records(ctx, want)
			for n, rec := range found {
				if rec == nil {
					tr.t.Errorf("puid %v has no row in cell %v", want[n], id)
				}
			}
			return err
		})
	}
	return len(puids)
}
