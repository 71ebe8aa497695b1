// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/internal/intake"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/source/sourcetest"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// brokers are the streams of the tests, by the host in URLs such as test://name.
var brokers sync.Map

// closed are the installations that a test has closed itself.
var closed sync.Map

type driver struct{}

func (driver) Check(*url.URL) error { return nil }

func (driver) Open(ctx context.Context, s source.Spec, at source.Position) (source.Stream, error) {
	b, ok := brokers.Load(s.URL.Host)
	if !ok || s.Secret.Reveal() == "wrong" {
		return nil, errors.New("the broker is not there")
	}
	return b.(*sourcetest.Broker).Open(ctx, at)
}

func init() { source.Register("test", driver{}) }

// broker returns an empty broker and its URL.
func broker(t *testing.T) (*sourcetest.Broker, string) {
	t.Helper()
	b, name := sourcetest.NewBroker(), strings.ToLower(strings.ReplaceAll(t.Name(), "_", "-"))
	brokers.Store(name, b)
	return b, "test://" + name
}

func open(t *testing.T, dir string, defineOnly bool) *locus.DB {
	t.Helper()
	if err := blank.Fill(dir, 2); err != nil {
		t.Fatal(err)
	}
	db, err := locus.Open(t.Context(), "sqlite:"+dir, &locus.Options{Storage: storage.Options{Scratch: true}, Sources: &sources.Options{
		Compile: intake.Compile, DefineOnly: defineOnly,
		Secret: func(name string, _ *url.URL) (string, error) {
			if name != "WRONG" {
				return "", errors.New("the environment variable " + name + " is not set")
			}
			return "wrong", nil
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, done := closed.LoadAndDelete(db); !done {
			db.Close()
		}
	})
	return db
}

// until waits for a state of source crm.
func until(t *testing.T, db *locus.DB, ok func(*sources.Status) bool) *sources.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		s, err := db.Sources().Get(ctx, "crm")
		if err == nil && ok(s) {
			return s
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the source does not come so far: %+v, %v; %+v", s, err, db.Sources().Running())
		}
	}
}

func create(t *testing.T, db *locus.DB, d sources.Definition) *sources.Status {
	t.Helper()
	d.Name = "crm"
	s, changed, err := db.Sources().Create(t.Context(), d)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	return s
}

func name(t *testing.T, db *locus.DB, key string) string {
	t.Helper()
	r, err := db.Records().Get(t.Context(), entity.Ref{Source: "crm", Key: key})
	if errors.Is(err, locus.ErrNotFound) || errors.Is(err, locus.ErrErased) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Attributes["name"][0]
}

var begun = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const mapping = "kind: person\nkey: id\nset: {name: \"{first} {last}\"}\n"

func TestSources_PutAndDelete(t *testing.T) {
	t.Parallel()
	b, url := broker(t)
	db := open(t, t.TempDir(), false)
	publish := func(ms int, key, value string) {
		b.Publish(0, begun.Add(time.Duration(ms)*time.Millisecond), key, value)
	}
	publish(1, "", `{"op":"c","after":{"id":1,"first":"Ann","last":"Lee"}}`)
	publish(2, "", `{"op":"r","after":{"id":2,"first":"Bo","last":"Dorr"}}`)
	create(t, db, sources.Definition{From: url, Format: source.Debezium, Mapping: mapping})
	until(t, db, func(s *sources.Status) bool { return s.Messages == 2 })
	publish(3, "", `{"op":"u","after":{"id":1,"first":"Ann","last":"Poe"}}`)
	publish(4, `{"id":2}`, `{"op":"d","before":null,"after":null}`)
	publish(4, `{"id":2}`, "")
	publish(5, `{"id":9}`, `{"op":"d","before":null,"after":null}`) // never was
	s := until(t, db, func(s *sources.Status) bool { return s.Messages == 6 })
	if a, b := name(t, db, "1"), name(t, db, "2"); a != "Ann Poe" || b != "" || s.Dead != 0 {
		t.Errorf("1 is %q, 2 is %q: %+v", a, b, s)
	}
	publish(2, "", `{"op":"u","after":{"id":1,"first":"Ann","last":"Lee"}}`) // an old version
	publish(2, "", `{"op":"d","before":{"id":1}}`)                           // and an old deletion
	until(t, db, func(s *sources.Status) bool { return s.Messages == 8 })
	if a := name(t, db, "1"); a != "Ann Poe" {
		t.Errorf("after old messages 1 is %q", a)
	}
}

// Messages of the same millisecond count in the order of the stream, also across batches.
func TestSources_TheLaterOfAMomentWins(t *testing.T) {
	t.Parallel()
	b, url := broker(t)
	db := open(t, t.TempDir(), false)
	create(t, db, sources.Definition{From: url, Mapping: mapping})
	for i, last := range []string{"Zoe", "Abe", "Moe"} {
		b.Publish(0, begun, "", fmt.Sprintf(`{"id":"1","first":"Ann","last":%q}`, last))
		until(t, db, func(s *sources.Status) bool { return s.Messages == int64(i+1) })
		if got := name(t, db, "1"); got != "Ann "+last {
			t.Errorf("after %s the name is %q", last, got)
		}
	}
}

func TestSources_DeadLetters(t *testing.T) {
	t.Parallel()
	b, url := broker(t)
	db := open(t, t.TempDir(), false)
	for _, value := range []string{`{"id":"1","first":"Ann"}`, `nothing`, `{"first":"Bo"}`, `{"id":"2","first":"Bo","tel":"555"}`, `{"id":"3"}`} {
		b.Publish(0, begun, "k", value)
	}
	create(t, db, sources.Definition{From: url, Mapping: mapping})
	s := until(t, db, func(s *sources.Status) bool { return s.Messages == 5 })
	letters, err := db.Sources().Dead(t.Context(), "crm")
	if err != nil || len(letters) != 4 || s.Dead != 4 {
		t.Fatal(letters, s, err)
	}
	for i, want := range []string{"not JSON", "it is missing", `"tel" is no attribute`, "name"} {
		if !strings.Contains(letters[i].Reason, want) || letters[i].Offset != int64(i+1) {
			t.Errorf("letter %d is %+v, want %q", i, letters[i], want)
		}
	}
	if n, err := db.Sources().Drop(t.Context(), "crm", source.At{Offset: 1}, source.At{Offset: 77}); n != 1 || err != nil {
		t.Error(n, err)
	}
	if _, changed, err := db.Sources().Create(t.Context(), sources.Definition{Name: "crm", From: url, Mapping: mapping + "ignore: tel\n"}); !changed || err != nil {
		t.Fatal(changed, err)
	}
	if n, err := db.Sources().Retry(t.Context(), "crm"); n != 3 || err != nil {
		t.Error(n, err)
	}
	until(t, db, func(s *sources.Status) bool { return s.Dead == 2 })
	if got := name(t, db, "2"); got != "Bo" {
		t.Errorf("the message that is tried again: %q", got)
	}
}

func TestSources_PauseResumeDrop(t *testing.T) {
	t.Parallel()
	b, url := broker(t)
	dir := t.TempDir()
	db := open(t, dir, false)
	b.Publish(0, begun, "", `{"id":"1","first":"Ann"}`)
	create(t, db, sources.Definition{From: url, Mapping: mapping})
	until(t, db, func(s *sources.Status) bool { return s.Messages == 1 })
	if s, err := db.Sources().Pause(t.Context(), "crm"); err != nil || !s.Paused {
		t.Fatal(s, err)
	}
	until(t, db, func(s *sources.Status) bool { return s.Owner == "" })
	b.Publish(0, begun, "", `{"id":"2","first":"Bo"}`)
	closed.Store(db, true)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir, false)
	if s := until(t, db, func(s *sources.Status) bool { return s.Paused }); s.Messages != 1 {
		t.Errorf("a paused source reads: %+v", s)
	}
	b.Trim(0, 2)
	if _, err := db.Sources().Resume(t.Context(), "crm", false); err != nil {
		t.Fatal(err)
	}
	if s := until(t, db, func(s *sources.Status) bool { return s.Paused }); !strings.Contains(s.Reason, "messages are gone") {
		t.Errorf("a gap: %+v", s)
	}
	b.Publish(0, begun, "", `{"id":"3","first":"Cy"}`)
	if _, err := db.Sources().Resume(t.Context(), "crm", true); err != nil {
		t.Fatal(err)
	}
	until(t, db, func(s *sources.Status) bool { return s.Messages == 2 })
	if err := db.Sources().Delete(t.Context(), "crm"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Sources().Get(t.Context(), "crm"); !errors.Is(err, sources.ErrNotFound) || !errors.Is(err, locus.ErrNotFound) {
		t.Errorf("after drop: %v", err)
	}
	if got := name(t, db, "3"); got != "Cy" {
		t.Errorf("the records of a dropped stream: %q", got)
	}
}

func TestSources_RefuseDefinitions(t *testing.T) {
	t.Parallel()
	_, url := broker(t)
	db := open(t, t.TempDir(), true)
	create(t, db, sources.Definition{From: url})
	if _, changed, err := db.Sources().Create(t.Context(), sources.Definition{Name: "crm", From: url}); changed || err != nil {
		t.Error("the same again:", changed, err)
	}
	if _, _, err := db.Sources().Create(t.Context(), sources.Definition{Name: "crm", From: url + "x"}); !errors.Is(err, sources.ErrOther) || !errors.Is(err, locus.ErrConflict) {
		t.Error("another stream:", err)
	}
	for want, d := range map[string]sources.Definition{
		"/source":     {Name: "CRM", From: url},
		"/from":       {Name: "a", From: "rabbit://x/y"},
		"/format":     {Name: "a", From: url, Format: "avro"},
		"/secret_env": {Name: "a", From: url, SecretEnv: "hunter2!"},
		"/mapping":    {Name: "a", From: url, Mapping: "kind: dragon"},
	} {
		_, _, err := db.Sources().Create(t.Context(), d)
		invalid, ok := errors.AsType[*locus.InvalidError](err)
		if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Pointer != want {
			t.Errorf("%+v: %v, want %s", d, err, want)
		}
	}
	if db.Sources().Running() != nil {
		t.Error("a process that only defines sources reads them")
	}
}

// A source whose broker or secret is missing tries again, and says why in the process that tries.
func TestSources_SayWhyTheyFail(t *testing.T) {
	t.Parallel()
	_, url := broker(t)
	db := open(t, t.TempDir(), false)
	create(t, db, sources.Definition{From: url, SecretEnv: "NONE"})
	trouble := func(want string) {
		until(t, db, func(*sources.Status) bool { return strings.Contains(db.Sources().Running()["crm"].Trouble, want) })
	}
	trouble("environment variable NONE")
	if _, _, err := db.Sources().Create(t.Context(), sources.Definition{Name: "crm", From: url, SecretEnv: "WRONG"}); err != nil {
		t.Fatal(err)
	}
	trouble("not there")
}

func TestStore_RefusesFormerOwners(t *testing.T) {
	t.Parallel()
	_, url := broker(t)
	db := open(t, t.TempDir(), true)
	s := create(t, db, sources.Definition{From: url})
	store := db.Sources().NewStore("crm", s.Revision)
	if _, err := store.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Sources().HoldForTest(t.Context(), "crm", 7); err != nil {
		t.Fatal(err)
	}
	p := &source.Progress{Messages: 1}
	if _, err := store.Save(t.Context(), 6, p, nil, nil); !errors.Is(err, lease.ErrLost) {
		t.Errorf("a former owner: %v", err)
	}
	if _, err := store.Save(t.Context(), 7, p, []source.Letter{{At: source.At{Offset: 1}, Again: true}}, nil); err != nil || p.Dead != 1 {
		t.Errorf("the owner: %v, %+v", err, p)
	}
	if again, err := store.Save(t.Context(), 7, p, nil, nil); err != nil || len(again) != 1 {
		t.Errorf("nothing new: %v, %v", again, err)
	}
	if _, err := db.Sources().Pause(t.Context(), "crm"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Save(t.Context(), 7, p, nil, nil); !errors.Is(err, source.ErrStop) {
		t.Errorf("a paused source: %v", err)
	}
}

// After a cell came back from a backup it may lack records from before the position, so the stream is read again.
func TestStore_BeginsAgainAfterARestore(t *testing.T) {
	t.Parallel()
	_, url := broker(t)
	db := open(t, t.TempDir(), true)
	s := create(t, db, sources.Definition{From: url})
	store := db.Sources().NewStore("crm", s.Revision)
	p, err := store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Sources().HoldForTest(t.Context(), "crm", 1); err != nil {
		t.Fatal(err)
	}
	p.Position = source.Position{Log: "x", Next: map[int32]int64{0: 5}}
	if _, err := store.Save(t.Context(), 1, &p, nil, nil); err != nil {
		t.Fatal(err)
	}
	if p, err = store.Load(t.Context()); err != nil || p.Position.Next[0] != 5 {
		t.Fatal(p, err)
	}
	if err := db.Sources().ReturnForTest(t.Context(), cell.ID{Index: 1}); err != nil {
		t.Fatal(err)
	}
	if p, err = store.Load(t.Context()); err != nil || len(p.Position.Next) != 0 || p.Position.Log != "" {
		t.Errorf("after a restore: %+v, %v", p, err)
	}
}
