// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// fixture is two processes of one installation, with a clock.
type fixture struct {
	*testing.T
	cells *storage.Cells
	a, b  *Handle
	now   time.Time
}

func setup(t *testing.T) *fixture {
	t.Helper()
	opened, err := storage.Open(t.Context(), t.TempDir(), &storage.Options{Cells: 1, Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	f := &fixture{T: t, cells: opened, now: time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return f.now }
	e := &engine.Engine{Cells: opened, Logger: slog.New(slog.DiscardHandler), Now: clock}
	f.a, f.b = New(e), New(e)
	f.a.now, f.b.now = clock, clock
	return f
}

func (f *fixture) create(by *Principal, r Request) (string, *Token) {
	f.Helper()
	secret, token, err := f.a.Create(f.Context(), by, r)
	if err != nil {
		f.Fatal(err)
	}
	return secret, token
}

func (f *fixture) admin() string {
	f.Helper()
	secret, _ := f.create(access.Local(), Request{Name: "root", Roles: []string{"administrator"}})
	return secret
}

// valid reports whether a process takes a token, and fails the test for any error but ErrUnknown.
func (f *fixture) valid(h *Handle, secret string) bool {
	f.Helper()
	_, err := h.Check(f.Context(), secret)
	if err != nil && !errors.Is(err, ErrUnknown) {
		f.Fatal(err)
	}
	return err == nil
}

func TestP10_FirstTokenCloses(t *testing.T) {
	t.Parallel()
	f := setup(t)
	if closed, err := f.b.Closed(t.Context()); closed || err != nil {
		t.Fatalf("closed %v, %v", closed, err)
	}
	if _, _, err := f.a.Create(t.Context(), access.Local(), Request{Name: "ci", Roles: []string{"writer"}}); !errors.Is(err, problem.ErrInvalid) {
		t.Errorf("the first token is a writer: %v", err)
	}
	secret := f.admin()
	f.now = f.now.Add(fresh)
	for _, h := range []*Handle{f.a, f.b} {
		if closed, err := h.Closed(t.Context()); !closed || err != nil || !f.valid(h, secret) {
			t.Errorf("closed %v, %v", closed, err)
		}
	}
	if _, err := f.a.Revoke(t.Context(), access.Local(), "root"); err != nil {
		t.Fatal(err)
	}
	if closed, err := f.a.Closed(t.Context()); !closed || err != nil {
		t.Errorf("without a token it is open again: %v", err)
	}
}

// TestP10_RevokedEverywhere revokes a token in one process: it ends at once there, and after a second in another.
func TestP10_RevokedEverywhere(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.admin()
	secret, token := f.create(access.Local(), Request{Name: "ci", Roles: []string{"writer"}})
	who, err := f.b.Check(t.Context(), secret)
	if err != nil || who.Name != "ci" || who.ID != token.ID || !who.May(access.Write) || who.May(access.Read) {
		t.Fatalf("%+v, %v", who, err)
	}
	if n, err := f.a.Revoke(t.Context(), access.Local(), "ci"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	live := func(h *Handle) bool {
		ok, err := h.Live(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if f.valid(f.a, secret) || live(f.a) {
		t.Error("valid where it was revoked")
	}
	f.now = f.now.Add(fresh)
	if f.valid(f.b, secret) || live(f.b) {
		t.Error("valid in another process, a second later")
	}
	if _, err := f.a.Revoke(t.Context(), access.Local(), "ci"); !errors.Is(err, ErrNotFound) {
		t.Errorf("revoked again: %v", err)
	}
}

// After a restore every token, session and login ends, in every process; blocks stay, and so does the need of a token.
func TestP10_RevokedAll(t *testing.T) {
	t.Parallel()
	f := setup(t)
	if _, err := f.a.RevokeAll(t.Context(), access.Local()); !errors.Is(err, ErrNotFound) {
		t.Errorf("where there never was a token: %v", err)
	}
	boot := NewBootstrap()
	if _, err := f.a.Bootstrap(t.Context(), boot); err != nil {
		t.Fatal(err)
	}
	if n, err := f.a.RevokeAll(t.Context(), access.Local()); n != 0 || err != nil || f.valid(f.a, boot) {
		t.Errorf("the bootstrap token: %d, %v", n, err)
	}
	if until, err := f.a.Bootstrap(t.Context(), boot); err != nil || !until.IsZero() {
		t.Errorf("it begins again: %v, %v", until, err)
	}
	root := f.admin()
	ci, _ := f.create(access.Local(), Request{Name: "ci", Roles: []string{"writer"}})
	session, _ := f.signIn(root, "")
	person, _, err := f.a.Admit(t.Context(), Person{Name: "oidc:7", Roles: []string{"reviewer"}}, "") // has no token
	if err != nil || !f.signedIn(f.b, person) {
		t.Fatal(err)
	}
	who, err := f.a.Check(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.a.Block(t.Context(), access.Local(), "jwt:x"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.a.RevokeAll(t.Context(), who); !errors.Is(err, ErrLast) || !f.valid(f.a, ci) {
		t.Errorf("by an administrator: %v", err)
	}
	if n, err := f.a.RevokeAll(t.Context(), access.Local()); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	f.now = f.now.Add(fresh)
	for _, h := range []*Handle{f.a, f.b} {
		if f.valid(h, root) || f.valid(h, ci) || f.signedIn(h, session) || f.signedIn(h, person) {
			t.Error("a credential is still valid")
		}
		if closed, err := h.Closed(t.Context()); !closed || err != nil {
			t.Errorf("closed %v, %v", closed, err)
		}
	}
	if blocks, err := f.b.Blocks(t.Context()); len(blocks) != 1 || err != nil {
		t.Errorf("blocks: %v, %v", blocks, err)
	}
	if again := f.admin(); !f.valid(f.a, again) {
		t.Error("the next token is not valid")
	}
}

func TestP10_Expiry(t *testing.T) {
	t.Parallel()
	f := setup(t)
	root := f.admin()
	short, _ := f.create(access.Local(), Request{Name: "short", Roles: []string{"reader"}, Life: time.Hour})
	endless, _ := f.create(access.Local(), Request{Name: "endless", Roles: []string{"reader"}, Endless: true})
	f.now = f.now.Add(time.Hour - time.Millisecond)
	if !f.valid(f.a, short) {
		t.Error("ends too early")
	}
	f.now = f.now.Add(time.Millisecond)
	if f.valid(f.a, short) || !f.valid(f.a, root) {
		t.Error("an hour later")
	}
	f.now = f.now.Add(defaultLife)
	if f.valid(f.a, root) || !f.valid(f.a, endless) {
		t.Error("90 days later")
	}
}

func TestP10_TokensAreNotStored(t *testing.T) {
	t.Parallel()
	f := setup(t)
	secret := f.admin()
	if err := f.a.engine.View(t.Context(), f.a.engine.Map().Authority(), func(tx storage.Tx) error {
		body, err := tx.Definition(t.Context(), catalogName)
		if len(body) < 100 || strings.Contains(string(body), secret[20:40]) {
			t.Errorf("stored: %s", body)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if other, _ := access.NewToken(); f.valid(f.a, other) || f.valid(f.a, "") || f.valid(f.a, secret[:len(secret)-1]+"_") {
		t.Error("a token is valid that was not created")
	}
	// The id of one token and the secret of another.
	other, id := access.NewToken()
	if f.valid(f.a, strings.Replace(secret, secret[10:18], id, 1)) ||
		f.valid(f.a, strings.Replace(other, id, secret[10:18], 1)) {
		t.Error("a token is valid that is made of two")
	}
}

func TestP10_GrantsOnlyWhatOneHas(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.admin()
	keeper := &Principal{Name: "keeper", ID: "k", Permissions: access.Of(access.Schema, access.Read, access.Access)}
	if _, _, err := f.a.Create(t.Context(), keeper, Request{Name: "w", Roles: []string{"writer"}}); !errors.Is(err, ErrLacks) {
		t.Errorf("created: %v", err)
	}
	if _, _, err := f.a.Rotate(t.Context(), keeper, "root", 0); !errors.Is(err, ErrLacks) {
		t.Errorf("rotated: %v", err)
	}
	f.create(keeper, Request{Name: "r", Roles: []string{"reader"}})
	if _, err := f.a.Revoke(t.Context(), keeper, "root"); !errors.Is(err, ErrLast) {
		t.Errorf("revoked the last: %v", err)
	}
	if _, err := f.a.Revoke(t.Context(), access.Local(), "root"); err != nil {
		t.Errorf("the operator cannot revoke the last: %v", err)
	}
}

func TestP10_Rotation(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.admin()
	first, _ := f.create(access.Local(),
		Request{Name: "ci", Roles: []string{"writer"}, Allow: []string{"erase"}, Life: 240 * time.Hour})
	f.now = f.now.Add(time.Hour)
	second, token, err := f.a.Rotate(t.Context(), access.Local(), "ci", 24*time.Hour)
	if err != nil || !token.Expires.Equal(f.now.Add(240*time.Hour)) || token.Allow[0] != "erase" {
		t.Fatalf("%+v, %v", token, err)
	}
	f.now = f.now.Add(24*time.Hour - time.Millisecond)
	if !f.valid(f.a, first) || !f.valid(f.a, second) {
		t.Error("both are valid during the overlap")
	}
	f.now = f.now.Add(time.Millisecond)
	if f.valid(f.a, first) || !f.valid(f.a, second) {
		t.Error("only the second is valid after it")
	}
	if n, err := f.a.Revoke(t.Context(), access.Local(), "ci"); n != 2 || err != nil {
		t.Error(n, err)
	}
}

func TestRequest_IsChecked(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for pointer, r := range map[string]Request{
		"/name": {Name: "Å", Roles: []string{"administrator"}}, "/roles": {Name: "x", Roles: []string{"admin"}},
		"/allow":   {Name: "x", Allow: []string{"root"}},
		"/expires": {Name: "x", Roles: []string{"administrator"}, Life: maxLife + 1},
	} {
		_, _, err := f.a.Create(t.Context(), access.Local(), r)
		invalid, ok := errors.AsType[*problem.InvalidError](err)
		if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Pointer != pointer {
			t.Errorf("%s: %v", pointer, err)
		}
	}
	if _, _, err := f.a.Create(t.Context(), access.Local(), Request{Name: "x"}); err == nil {
		t.Error("a token that may do nothing")
	}
	f.admin()
	if _, _, err := f.a.Create(t.Context(), access.Local(), Request{Name: "root", Roles: []string{"reader"}}); !errors.Is(err, ErrTaken) {
		t.Errorf("a name twice: %v", err)
	}
}

// A token cannot have a name by which the audit log calls another.
func TestP10_NamesOfOthers(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.admin()
	for _, name := range []string{"local", "bootstrap", "oidc:7", "jwt:ci", "cert:a"} {
		if _, _, err := f.a.Create(t.Context(), access.Local(), Request{Name: name, Roles: []string{"reader"}}); err == nil {
			t.Errorf("a token is called %s", name)
		}
	}
}

// TestP10_CutOff takes the authority away: tokens that were read are valid for the grace, by default five minutes, then
// unavailable.
func TestP10_CutOff(t *testing.T) {
	t.Parallel()
	for _, set := range []time.Duration{0, 90 * time.Second} {
		cutOff(t, set)
	}
}

func cutOff(t *testing.T, set time.Duration) {
	t.Helper()
	f := setup(t)
	f.b.engine.AccessGrace = set
	f.b.grace = New(f.b.engine).grace
	grace := cmp.Or(set, 5*time.Minute)
	secret := f.admin()
	if !f.valid(f.b, secret) {
		t.Fatal("not valid")
	}
	if err := f.cells.Close(); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(grace)
	if !f.valid(f.b, secret) {
		t.Error("not valid within the grace")
	}
	f.now = f.now.Add(time.Second)
	if _, err := f.b.Check(context.Background(), secret); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("after it: %v", err)
	}
	if _, err := New(f.a.engine).Closed(t.Context()); err == nil {
		t.Error("a process that has read nothing is open")
	}
}

func TestLastUse(t *testing.T) {
	t.Parallel()
	f := setup(t)
	secret := f.admin()
	f.now = f.now.Add(90 * time.Minute)
	f.valid(f.a, secret)
	f.now = f.now.Add(fresh)
	f.valid(f.a, secret)
	list, err := f.a.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Used.Format(time.TimeOnly) != "11:00:00" {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestP10_BootstrapIsForTheBeginning begins an installation with a bootstrap token: it is valid for a day, not longer
// after a restart, and only until there is another token.
func TestP10_BootstrapIsForTheBeginning(t *testing.T) {
	t.Parallel()
	f := setup(t)
	boot, other := NewBootstrap(), NewBootstrap()
	begin := func(secret string) time.Time {
		t.Helper()
		until, err := f.a.Bootstrap(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		return until
	}
	for _, wrong := range []string{"", "x", boot[:len(boot)-1], strings.Replace(boot, "boot", "tok", 1)} {
		if _, err := f.a.Bootstrap(t.Context(), wrong); !errors.Is(err, problem.ErrInvalid) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if closed, err := f.a.Closed(t.Context()); closed || err != nil {
		t.Fatal("what is no token closes the installation:", err)
	}
	first := begin(boot)
	if want := f.now.Add(bootLife); !first.Equal(want) {
		t.Errorf("valid until %v, want %v", first, want)
	}
	if closed, err := f.a.Closed(t.Context()); !closed || err != nil || !f.valid(f.a, boot) || f.valid(f.a, other) {
		t.Errorf("closed %v, %v", closed, err)
	}
	f.now = f.now.Add(bootLife - time.Minute)
	if again := begin(boot); !again.Equal(first) || !f.valid(f.a, boot) {
		t.Errorf("after a restart it is valid until %v, not %v", again, first)
	}
	f.now = f.now.Add(2 * time.Minute)
	if again := begin(boot); !again.IsZero() || f.valid(f.a, boot) {
		t.Errorf("after a day it is valid until %v", again)
	}
	if begin(other).IsZero() || !f.valid(f.a, other) || f.valid(f.a, boot) {
		t.Error("a new one is not valid")
	}
	who, err := f.a.Check(t.Context(), other)
	if err != nil || who.Name != "bootstrap" {
		t.Fatal(who, err)
	}
	f.create(who, Request{Name: "root", Roles: []string{"administrator"}})
	f.now = f.now.Add(fresh)
	for _, h := range []*Handle{f.a, f.b} {
		if f.valid(h, other) {
			t.Error("it is valid beside another token")
		}
	}
	if live, err := f.a.Live(t.Context(), who); live || err != nil {
		t.Errorf("its work goes on: %v", err)
	}
	if _, err := f.a.Revoke(t.Context(), access.Local(), "root"); err != nil {
		t.Fatal(err)
	}
	if again := begin(other); !again.IsZero() || f.valid(f.a, other) {
		t.Errorf("it comes back when the other token is revoked, until %v", again)
	}
}
