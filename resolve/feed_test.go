// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// consumer is a reader that sees only the logs of an installation.
type consumer struct {
	members map[locality.ID][]changelog.Version
	into    map[locality.ID]locality.ID
	causes  map[changelog.Cause]int
}

// reads reads all logs from the beginning, one cell after the other: there is no order between their logs.
func (in *installation) reads(t testing.TB) *consumer {
	t.Helper()
	c := &consumer{map[locality.ID][]changelog.Version{}, map[locality.ID]locality.ID{}, map[changelog.Cause]int{}}
	in.each(t, func(tx storage.Tx, _ entity.PUID) error {
		changes, err := tx.Changes(t.Context(), 0, 1<<20)
		for _, ch := range changes {
			c.take(t, ch)
		}
		return err
	})
	return c
}

func (c *consumer) take(t testing.TB, ch changelog.Change) {
	t.Helper()
	c.causes[ch.Cause]++
	want := map[changelog.Kind]changelog.Cause{changelog.Put: changelog.CausePut, changelog.Deleted: changelog.CauseDelete}
	if cause, of := want[ch.Kind]; ch.Cause == "" || of && ch.Cause != cause {
		t.Errorf("a change of kind %s because of %q: %+v", ch.Kind, ch.Cause, ch)
	}
	if ch.Kind.OfRecord() {
		return
	}
	if known := c.members[ch.Entity]; !slices.Equal(known, ch.Before) {
		t.Errorf("entity %v was %v by its log, and %s from %v", ch.Entity, known, ch.Kind, ch.Before)
	}
	delete(c.members, ch.Entity)
	delete(c.into, ch.Entity)
	if ch.Kind == changelog.Retired {
		c.into[ch.Entity] = ch.Into
	} else {
		c.members[ch.Entity] = ch.After
	}
}

// same fails unless the consumer has the members, versions and order of every stored entity.
func (c *consumer) same(t testing.TB, in *installation) {
	t.Helper()
	got, want := map[locality.ID]string{}, map[locality.ID]string{}
	for id, members := range c.members {
		got[id] = fmt.Sprint(members)
	}
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		found, err := tx.ListEntities(t.Context(), lo, 1<<20)
		for _, e := range found {
			var members []changelog.Version
			for _, m := range e.Members {
				members = append(members, changelog.Version{PUID: m.PUID, Version: m.Version})
			}
			want[e.ID] = fmt.Sprint(members)
		}
		return err
	})
	if d := differ(got, want); d != "" {
		t.Fatalf("by the logs:\n%s", d)
	}
	for id, into := range c.into {
		for n := 0; !into.IsZero() && c.members[into] == nil; n++ {
			if next, retired := c.into[into]; !retired || n > 1000 {
				t.Fatalf("the id of retired entity %v leads to %v, of which the logs know nothing", id, into)
			} else {
				into = next
			}
		}
	}
}

// A reader of all logs from the beginning can list the members of every entity, in order, and the cause of each change.
func TestP09_TheLogsTellEveryMembership(t *testing.T) {
	t.Parallel()
	for seed := range seeds(1) {
		r := rand.New(rand.NewPCG(seed, 22))
		ops := world(seed+3, 50)
		in := open(t, t.TempDir(), nil)
		for _, group := range groups(r, shuffled(r, ops), 40) {
			in.apply(t, group)
		}
		in.decide(t, rulings(r, ops, 30)...)
		var deletes []resolve.Op
		for _, op := range ops[:30] {
			deletes = append(deletes, resolve.Op{Ref: op.Ref, Delete: true})
		}
		in.apply(t, deletes)
		in.decide(t, rulings(r, ops[30:], 10)...)
		in.apply(t, ops[:20])
		in.check(t)
		c := in.reads(t)
		c.same(t, in)
		for _, cause := range []changelog.Cause{changelog.CausePut, changelog.CauseDelete, changelog.CauseDecision} {
			if c.causes[cause] == 0 {
				t.Errorf("nothing changed because of %s: %v", cause, c.causes)
			}
		}
	}
}

// Changes have the correct cause.
func TestResolver_ChangesHaveTheirCause(t *testing.T) {
	t.Parallel()
	in := openTicking(t)
	ops := []resolve.Op{
		{Ref: entity.Ref{Source: "1", Key: "a"}, Attributes: entity.Attributes{"name": {"Joes Pizza"}, "address": {"1000 Market Street"}, "phones": {"415-555-2300"}}},
		{Ref: entity.Ref{Source: "2", Key: "b"}, Attributes: entity.Attributes{"name": {"Joe's"}, "address": {"1000 Market St."}, "phones": {"(415) 555-2300"}}},
	}
	in.apply(t, ops)
	first, later := ops[0].Ref, ops[1].Ref
	for _, members := range in.check(t) {
		if strings.HasPrefix(members, later.String()) {
			first, later = later, first
		}
	}
	seen := 0
	causes := func() string {
		var all []string
		for cause, n := range in.reads(t).causes {
			all = append(all, fmt.Sprint(cause, " ", n))
		}
		slices.Sort(all)
		defer func() { seen = in.log(t) }()
		if in.log(t) == seen {
			return "none"
		}
		return strings.Join(all, ", ")
	}
	if got := causes(); got != "put 3" {
		t.Errorf("puts caused %s", got)
	}
	in.decide(t, ruling{verdict: entity.VerdictAnchor, a: first})
	if got := causes(); got != "none" {
		t.Errorf("the anchor that was caused %s", got)
	}
	in.decide(t, ruling{verdict: entity.VerdictAnchor, a: later})
	if got := causes(); got != "decision 2, put 3" {
		t.Errorf("an anchor caused %s", got)
	}
	in.apply(t, []resolve.Op{{Ref: first, Delete: true}})
	if got := causes(); got != "decision 2, delete 2, put 3" {
		t.Errorf("a deletion caused %s", got)
	}
}
