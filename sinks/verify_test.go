// SPDX-License-Identifier: Apache-2.0

package sinks_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
	_ "github.com/locus-db/locus/sink/webhook"
	"github.com/locus-db/locus/sinks"
)

// Changes by another program in a target are found, and the events delivered again, while records are put.
func TestP17_VerifyFindsAndRepairs(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for _, name := range []string{"keeps-verify", "verify"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, t.TempDir())
			defer func() { _ = db.Close() }()
			for i := range 30 {
				put(t, db, fmt.Sprint(i), fmt.Sprintf("Quill %c Books", 'a'+i))
			}
			if _, _, err := db.Sinks().Create(t.Context(), sinks.Definition{Name: name, To: "memory://" + name}); err != nil {
				t.Fatal(err)
			}
			events := until(t, db, name, func(events []sink.Event, s *sinks.Status) bool { return len(events) == 30 && s.Delivered >= 30 })
			verify := func(repair bool, what ...sink.Difference) {
				t.Helper()
				v, err := db.Sinks().Verify(t.Context(), name, repair, nil)
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(v.Found) != fmt.Sprint(what) || v.Compared < 30 || v.Late {
					t.Errorf("found %+v late %v, want %+v", v.Found, v.Late, what)
				}
			}
			verify(false)
			loaded, _ := targets.Load(name)
			target := loaded.(*sinktest.Memory)
			other := events[4]
			other.View = map[string]any{"name": "Another"}
			foreign := events[9]
			foreign.ID = locality.ID{0: 0xff, 1: 0xff, 2: 0xff, 3: 0xff, 4: 0xff, 5: 0xff, 6: 0x8f, 7: 0xff, 8: 0xbf, 9: 0xff}
			target.Spoil(sink.Event{ID: events[2].ID})
			target.Spoil(other)
			target.Spoil(foreign)
			want := []sink.Difference{{ID: events[2].ID, What: sink.Missing}, {ID: events[4].ID, What: sink.Different},
				{ID: foreign.ID, What: sink.Surplus}}
			verify(false, want...)
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
						put(t, db, fmt.Sprint(n%20+100), fmt.Sprintf("Brass %c Heron %d", 'a'+n%20, n))
						until(t, db, name, func(_ []sink.Event, s *sinks.Status) bool { return s.Delivered > int64(30+n) })
					}
				}
			}()
			for i := range want {
				want[i].Repaired = true
			}
			v, err := db.Sinks().Verify(t.Context(), name, true, nil)
			close(stop)
			<-done
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range v.Found {
				if !d.Repaired && !v.Late {
					t.Errorf("%+v is left", d)
				}
			}
			if !v.Late && fmt.Sprint(v.Found) != fmt.Sprint(want) {
				t.Errorf("repaired %+v, want %+v", v.Found, want)
			}
			verify(false)
			if got := target.Get(events[4].ID); got.View["name"] == "Another" || got.Rev <= events[4].Rev {
				t.Errorf("repaired: %+v", got)
			}
			if got := target.Get(foreign.ID); got.Op != sink.Delete {
				t.Errorf("surplus: %+v", got)
			}
		})
	}
}

func TestVerify_Refuses(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	defer func() { _ = db.Close() }()
	for name, to := range map[string]string{"hook": "http://127.0.0.1:1/", "away": "memory://away"} {
		if _, _, err := db.Sinks().Create(t.Context(), sinks.Definition{Name: name, To: to}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Sinks().Pause(t.Context(), "away"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"hook": sinks.ErrUnreadable, "away": sinks.ErrPaused, "none": sinks.ErrNotFound} {
		if _, err := db.Sinks().Verify(t.Context(), name, true, nil); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
