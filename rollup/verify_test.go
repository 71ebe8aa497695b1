// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
)

func TestVerify_SaysWhatDiffers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put("a", "ears", 1, 2)
	s.put("b", "wings", 3)
	v := s.define()
	f := s.follower("a")
	s.build(f, v)
	s.put("b", "ears", 1)
	s.put("c", "fur", 4, 5)
	verify := func() *rollup.Verification {
		t.Helper()
		got, err := rollup.Verify(t.Context(), s.at, v.Generation, nil)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := &rollup.Verification{Watermark: 3, Things: 5, Pending: 3, Rows: 4}
	if diff := cmp.Diff(want, verify()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	s.step(f)
	if got := verify(); got.Pending != 0 || got.Differs != 0 || got.Rows != 7 {
		t.Errorf("after a Step: %+v", got)
	}

	s.update(func(c *cell) error {
		rows := c.rows[v.Generation]
		return c.PutRows(t.Context(), v.Generation, []rollup.Row{
			{Key: []byte("gears"), Body: rows["gwings"]},
			{Key: []byte("gfur")},
			{Key: []byte("gteeth"), Body: []byte{7}},
			{Key: []byte("vwings\x00b\x00\x00b"), Body: []byte{9}},
		})
	})
	want = &rollup.Verification{Watermark: 6, Things: 5, Rows: 7, Differs: 4, Differences: []rollup.Difference{
		{Group: []string{"ears"}, Stored: "b [1 0]", Recomputed: "a [1 0], b [1 0]"},
		{Group: []string{"fur"}, Recomputed: "c [2 0]"},
		{Group: []string{"teeth"}, Stored: "a row cannot be read: rebuild the rollup"},
		{Group: []string{"wings"}, Stored: `9 times "b" of cities under "b"`, Recomputed: `1 times "b" of cities under "b"`},
	}}
	if diff := cmp.Diff(want, verify()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	at := time.UnixMilli(1_700_000_000_123).UTC()
	s.update(func(c *cell) error { return rollup.Verified(t.Context(), c, v.Generation, at) })
	if got := s.at.generations[v.Generation].Verified; !got.Equal(at) {
		t.Errorf("it was verified at %v", got)
	}
	if _, err := rollup.Verify(t.Context(), s.at, 7, nil); !errors.Is(err, rollup.ErrGone) {
		t.Errorf("Verify of nothing: %v", err)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := s.define().Definition
	s.update(func(c *cell) error {
		return c.Want(t.Context(), d.Images().Union(changelog.Images{Records: []string{}}))
	})
	s.put("a", "ears", 1, 2)
	s.put("b", "ears", 1)
	s.put("b", "wings", 3)
	s.put("b", "wings", 1)
	s.update(func(c *cell) error { c.put(rollup.Records, 1, nil); return nil })
	type effect struct {
		Seq           changelog.Seq
		Before, After []string
	}
	var got []effect
	before, looks := changelog.Seq(0), 0
	for more := true; more; looks++ {
		var effects []rollup.Effect
		var err error
		if effects, before, more, err = rollup.Explain(t.Context(), s.at, &d, []string{"ears"}, before); err != nil {
			t.Fatal(err)
		}
		var page []effect
		for _, e := range effects {
			page = append(page, effect{e.Seq, e.Before, e.After})
		}
		got = append(page, got...)
	}
	want := []effect{{1, nil, []string{"a"}}, {2, nil, []string{"a"}}, {3, []string{"a"}, []string{"b"}},
		{5, []string{"b"}, nil}}
	if diff := cmp.Diff(want, got); diff != "" || before != 0 || looks != 2 {
		t.Errorf("back to %d in %d looks, -want +got:\n%s", before, looks, diff)
	}
}

func TestStanding_Lag(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put("a", "ears", 1)
	v := s.define()
	f := s.follower("a")
	s.build(f, v)
	standing := func() *rollup.Standing {
		t.Helper()
		st, err := rollup.StandingOf(t.Context(), s.at, v.Generation)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	now := time.UnixMilli(10)
	if st := standing(); st.Lag(now) != 0 || st.Owner != "a" || st.Token != 1 || st.Last != 1 {
		t.Errorf("nothing waits: %+v, lag %v", st, st.Lag(now))
	}
	s.put("b", "ears", 1, 2)
	if st := standing(); st.Lag(now) != 8*time.Millisecond || st.Watermark != 1 || st.Last != 3 {
		t.Errorf("two changes wait: %+v, lag %v", st, st.Lag(now))
	}
	if st := standing(); st.Lag(time.UnixMilli(0)) != 0 {
		t.Errorf("the lag is %v by a clock that is behind", st.Lag(time.UnixMilli(0)))
	}
}

// A generation that failed longer ago than the log is kept can no longer be verified; the error gives the reason and
// what to do.
func TestP04_VerifyWithoutTheLogSaysWhy(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := definitions(`{ rollup: pets, kind: animal, group: tags, dimension: at }`)[0]
	s.update(func(c *cell) error { _, _, err := rollup.Define(t.Context(), c, d, s.now); return err })
	f := s.follower("a")
	s.step(f)
	for _, v := range s.step(f).Missing {
		s.build(f, v)
	}
	for i := range int64(rollup.Slots + 1) {
		s.update(func(c *cell) error {
			c.put(rollup.Entities, i, &changelog.Image{Kind: "animal",
				Attributes: map[string][]string{"tags": {"ears"}, "at": {fmt.Sprint(i)}}})
			return nil
		})
	}
	for s.step(f).More {
	}
	verify := func() error {
		_, err := rollup.Verify(t.Context(), s.at, 1, nil)
		return err
	}
	if g := s.at.generations[1]; g.State != rollup.Failed || verify() != nil {
		t.Fatalf("%+v, %v", g, verify())
	}
	s.update(func(c *cell) error {
		_, err := rollup.Trim(t.Context(), c, s.now.AddDate(1, 0, 0), nil, 100)
		return err
	})
	if err := verify(); !errors.Is(err, rollup.ErrLimit) || !strings.Contains(err.Error(), "rebuild it") || !strings.Contains(err.Error(), "5 values of at") {
		t.Errorf("the error is %v", err)
	}
}
