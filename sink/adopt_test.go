// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
)

// moved is an installation with another name.
type moved struct{ *locked }

func (m moved) Installation(ctx context.Context) (string, []cell.ID, error) {
	_, cells, err := m.locked.Installation(ctx)
	return "moved", cells, err
}

// A target is filled by an installation that adopts it, with revs above those in the target. Other installations do not
// write to it, and from then on the former one does not either.
func TestRunner_AdoptsATarget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		target, row := &sinktest.Memory{Keeps: true}, &leases{}
		former := newLocked(30)
		name, _, err := former.Installation(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		row.row.Token = 70 // many owners
		stop := start(t, sink.New(options(former, target, &sinktest.Store{}, row.holder("a"))))
		pass(time.Minute)
		if err := stop(); err != nil || former.wrong(target) > 0 {
			t.Fatal(err)
		}
		at, err := target.Position(t.Context())
		if err != nil || at.Token != 71 {
			t.Fatalf("the position is of the token %d, %v", at.Token, err)
		}

		l := newLocked(20)
		run := func(opts func(*sink.Options)) error {
			o := options(l, target, &sinktest.Store{}, (&leases{}).holder("b"))
			o.Source = moved{l}
			opts(&o)
			stop := start(t, sink.New(o))
			pass(time.Minute)
			return stop()
		}
		for _, other := range []string{"", "other"} {
			if err := run(func(o *sink.Options) { o.Adopt, o.Above = other, at.Token }); !errors.Is(err, sink.ErrForeign) {
				t.Errorf("adopt %q: %v", other, err)
			}
		}
		if err := run(func(o *sink.Options) { o.Adopt, o.Above = name, at.Token }); err != nil {
			t.Fatal(err)
		}
		if n := l.wrong(target); n > 0 {
			t.Errorf("%d ids are wrong", n)
		}
		for _, e := range target.Events() {
			if sink.TokenOf(e.Rev) <= at.Token {
				t.Fatalf("%+v is of the former installation", e)
			}
		}
		stop = start(t, sink.New(options(former, target, &sinktest.Store{}, row.holder("a"))))
		pass(time.Second)
		if err := stop(); !errors.Is(err, sink.ErrForeign) {
			t.Errorf("the former installation gets %v", err)
		}
	})
}
