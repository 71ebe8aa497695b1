// SPDX-License-Identifier: Apache-2.0

package sinks_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
	"github.com/locus-db/locus/sinks"
	"github.com/locus-db/locus/storage"
)

// targets are the targets of the tests, by the host in URLs such as memory://name.
var targets sync.Map

func init() {
	sink.Register(sink.Driver{
		Check: func(*url.URL) error { return nil },
		Open: func(_ context.Context, s sink.Spec) (sink.Sink, error) {
			t, _ := targets.LoadOrStore(s.URL.Host, &sinktest.Memory{Keeps: strings.HasPrefix(s.URL.Host, "keeps")})
			return t.(*sinktest.Memory), nil
		},
		Read: func(_ context.Context, s sink.Spec) (sink.Reader, error) {
			t, _ := targets.Load(s.URL.Host)
			return t.(*sinktest.Memory), nil
		},
		Lanes: 1, Batch: 10,
	}, "memory")
}

func open(t *testing.T, dir string) *locus.DB {
	t.Helper()
	if err := blank.Fill(dir, 2); err != nil {
		t.Fatal(err)
	}
	db, err := locus.Open(t.Context(), dir,
		&locus.Options{Storage: storage.Options{Scratch: true}, Sinks: &sinks.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func put(t *testing.T, db *locus.DB, key, name string) {
	t.Helper()
	results, err := db.Records().Put(t.Context(),
		[]records.Input{{Ref: entity.Ref{Source: "a", Key: key}, Attributes: entity.Attributes{"name": {name}}}})
	if err != nil || results[0].Err != nil {
		t.Fatal(results, err)
	}
}

// until waits for a state of the target of a sink.
func until(t *testing.T, db *locus.DB, name string, ok func([]sink.Event, *sinks.Status) bool) []sink.Event {
	t.Helper()
	late := time.Now().Add(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		s, err := db.Sinks().Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		target, _ := targets.LoadOrStore(strings.TrimPrefix(s.To, "memory://"), &sinktest.Memory{Keeps: name == "keeps"})
		events := target.(*sinktest.Memory).Events()
		if ok(events, s) {
			return events
		}
		if time.Now().After(late) {
			t.Fatalf("%s does not come so far: %+v, %+v", name, events, s)
		}
		<-tick.C
	}
}

func shown(events []sink.Event) (all []string) {
	for _, e := range events {
		all = append(all, fmt.Sprint(e.Op, " ", e.View["name"]))
	}
	return all
}

// A restored sink is paused. Taken over, it delivers every state, and a consumer that keeps the highest rev has them
// all.
func TestP17_RestoredSinksAreAboveTheFormer(t *testing.T) {
	t.Parallel()
	was := open(t, t.TempDir())
	defer func() { _ = was.Close() }()
	put(t, was, "1", "Joes Pizza")
	for _, name := range []string{"keeps", "none", "held"} {
		if _, _, err := was.Sinks().Create(t.Context(), sinks.Definition{Name: name, To: "memory://" + name, Hold: time.Hour}); err != nil {
			t.Fatal(err)
		}
		until(t, was, name, func(events []sink.Event, _ *sinks.Status) bool { return len(events) == 1 })
	}
	if _, err := was.Sinks().Pause(t.Context(), "held"); err != nil {
		t.Fatal(err)
	}
	dump, err := was.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer dump.Close()
	var file bytes.Buffer
	if _, err := dump.WriteTo(&file); err != nil || dump.End.Sinks != 3 {
		t.Fatal(dump.End, err)
	}
	// The former installation goes on, under further tokens.
	for i := range 3 {
		for _, name := range []string{"keeps", "none"} {
			if _, err := was.Sinks().Pause(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			if _, err := was.Sinks().Resume(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		put(t, was, "1", fmt.Sprint("Joes Pizza ", i))
		for _, name := range []string{"keeps", "none"} {
			until(t, was, name, func(events []sink.Event, _ *sinks.Status) bool {
				return shown(events)[0] == fmt.Sprint("upsert Joes Pizza ", i)
			})
		}
	}

	where := filepath.Join(t.TempDir(), "restored")
	r, err := locus.Restore(t.Context(), where, &file, &locus.Options{Storage: storage.Options{Cells: 4}})
	if err != nil || r.Sinks != 3 {
		t.Fatal(r, err)
	}
	db := open(t, where)
	defer func() { _ = db.Close() }()
	all, err := db.Sinks().List(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for _, s := range all {
		if !s.Paused || (s.Reason == "") != (s.Name == "held") || s.Hold != time.Hour || s.Delivered != 0 {
			t.Errorf("restored: %+v", s)
		}
	}
	for _, name := range []string{"keeps", "none"} {
		before := until(t, was, name, func([]sink.Event, *sinks.Status) bool { return true })
		if _, err := db.Sinks().Adopt(t.Context(), name, 0); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		after := until(t, db, name, func(events []sink.Event, _ *sinks.Status) bool { return shown(events)[0] == "upsert Joes Pizza" })
		if after[0].ID != before[0].ID || after[0].Rev <= before[0].Rev {
			t.Errorf("%s: %+v after %+v", name, after, before)
		}
	}
}
