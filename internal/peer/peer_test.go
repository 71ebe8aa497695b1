// SPDX-License-Identifier: Apache-2.0

package peer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/peer"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
)

// queue stands in for the queue of the process that holds the lease.
type queue struct {
	calls atomic.Int64
	take  func(context.Context, []resolve.Op) ([]resolve.Result, error)
}

func (q *queue) Take(ctx context.Context, ops []resolve.Op) ([]resolve.Result, error) {
	q.calls.Add(1)
	return q.take(ctx, ops)
}

func listen(t testing.TB) *peer.Peers {
	t.Helper()
	p, err := peer.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close(context.Background()) })
	return p
}

// pair returns two processes. The second one serves the queue.
func pair(t testing.TB, q *queue) (caller, holder *peer.Peers) {
	t.Helper()
	caller, holder = listen(t), listen(t)
	holder.Serve(q)
	return caller, holder
}

func done(_ context.Context, ops []resolve.Op) ([]resolve.Result, error) {
	return make([]resolve.Result, len(ops)), nil
}

var someOps = []resolve.Op{{Ref: entity.Ref{Source: "crm", Key: "1"}, Attributes: entity.Attributes{"name": {"Ann"}}}}

// Ops and results arrive unchanged.
func TestForward_OpsAndResultsArrive(t *testing.T) {
	t.Parallel()
	q := &queue{}
	caller, holder := pair(t, q)
	id := rapid.Custom(func(t *rapid.T) locality.ID {
		return locality.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	})
	text := rapid.StringN(0, 20, -1)
	op := rapid.Custom(func(t *rapid.T) resolve.Op {
		o := resolve.Op{
			Ref: entity.Ref{Source: text.Draw(t, "source"), Key: text.Draw(t, "key")}, Kind: text.Draw(t, "kind"),
			Delete: rapid.Bool().Draw(t, "delete"), IfVersion: rapid.Int64().Draw(t, "if version"),
			Later:      rapid.Bool().Draw(t, "later"),
			Attributes: rapid.MapOf(text, rapid.SliceOfN(text, 1, 3)).Draw(t, "attributes"),
			Version:    rapid.Int64().Draw(t, "version"),
		}
		if len(o.Attributes) == 0 {
			o.Attributes = nil
		}
		if rapid.Bool().Draw(t, "observed") {
			o.Observed = time.UnixMilli(rapid.Int64Range(-1e12, 4e12).Draw(t, "at")).UTC()
		}
		if rapid.Bool().Draw(t, "restored") {
			o.Birth = id.Draw(t, "birth")
		}
		return o
	})
	targets := []error{
		problem.ErrInvalid, problem.ErrConflict, problem.ErrUnavailable, problem.ErrCommitUnknown, entity.ErrNotFound,
		entity.ErrErased, entity.ErrVersion,
		entity.ErrRefused, cell.ErrUnavailable, cell.ErrCommitUnknown, cell.ErrDamaged, cell.ErrNoRoom, cell.ErrStaleMap,
		resolve.ErrOutdated,
		resolve.ErrNewer, resolve.ErrUpgrading,
	}
	result := rapid.Custom(func(t *rapid.T) resolve.Result {
		r := resolve.Result{
			PUID: entity.PUID(rapid.Int64Range(0, 1<<62).Draw(t, "puid")), Version: rapid.Int64().Draw(t, "version"),
			Entity:  id.Draw(t, "entity"),
			Outcome: rapid.SampledFrom([]resolve.Outcome{"", resolve.Created, resolve.Stale}).Draw(t, "outcome"),
			Pending: rapid.Bool().Draw(t, "pending"),
		}
		if rapid.Bool().Draw(t, "fails") {
			r.Err = fmt.Errorf("%s: %w", text.Draw(t, "why"), rapid.SampledFrom(targets).Draw(t, "is"))
		}
		return r
	})
	rapid.Check(t, func(t *rapid.T) {
		ops := rapid.SliceOfN(op, 1, 5).Draw(t, "ops")
		results := rapid.SliceOfN(result, len(ops), len(ops)).Draw(t, "results")
		if rapid.Bool().Draw(t, "marks") {
			for i := range results {
				results[i].Marks = map[cell.ID]changelog.Seq{{Gen: 1, Index: 2}: 7, {Gen: 0, Index: 0}: 1 << 60}
			}
		}
		var arrived []resolve.Op
		q.take = func(_ context.Context, ops []resolve.Op) ([]resolve.Result, error) {
			arrived = ops
			return results, nil
		}
		got, err := caller.Forward(context.Background(), holder.Address(), ops)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(ops, arrived); d != "" {
			t.Fatalf("the ops differ:\n%s", d)
		}
		for i, want := range results {
			for _, target := range targets {
				if errors.Is(got[i].Err, target) != errors.Is(want.Err, target) {
					t.Fatalf("%v is no longer %v", want.Err, target)
				}
			}
			if (got[i].Err == nil) != (want.Err == nil) || want.Err != nil && got[i].Err.Error() != want.Err.Error() {
				t.Fatalf("%v became %v", want.Err, got[i].Err)
			}
			got[i].Err, want.Err = nil, nil
			if d := cmp.Diff(want, got[i]); d != "" {
				t.Fatalf("result %d differs:\n%s", i, d)
			}
		}
	})
}

// A process that the address does not name accepts nothing, and the caller learns that nothing was applied.
func TestForward_OnlyToTheProcessOfTheAddress(t *testing.T) {
	t.Parallel()
	change := func(address string, fn func(*url.URL)) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		fn(u)
		return u.String()
	}
	q := &queue{take: done}
	caller, holder := pair(t, q)
	other := listen(t)
	other.Serve(q)
	silent := listen(t) // serves no queue yet
	gone := listen(t)
	_ = gone.Close(t.Context())
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = http.Serve(plain, http.NotFoundHandler()) }() //nolint:gosec // ends with the listener
	t.Cleanup(func() { _ = plain.Close() })
	of := func(p *peer.Peers) *url.URL { u, _ := url.Parse(p.Address()); return u }
	for name, address := range map[string]string{
		"another password":               change(holder.Address(), func(u *url.URL) { u.User = url.UserPassword("locus", "guess") }),
		"no password":                    change(holder.Address(), func(u *url.URL) { u.User = nil }),
		"another certificate":            change(holder.Address(), func(u *url.URL) { u.Fragment = of(other).Fragment }),
		"no certificate":                 change(holder.Address(), func(u *url.URL) { u.Fragment = "" }),
		"another process has the port":   change(holder.Address(), func(u *url.URL) { u.Host = of(other).Host }),
		"another program has the port":   change(holder.Address(), func(u *url.URL) { u.Host = plain.Addr().String() }),
		"it has stopped":                 gone.Address(),
		"it does not serve yet":          silent.Address(),
		"what is stored is no address":   "\x00",
		"what is stored is no good host": "https://locus:x@",
	} {
		if _, err := caller.Forward(t.Context(), address, someOps); !errors.Is(err, resolve.ErrNotHolder) {
			t.Errorf("%s: %v, want that nothing was applied", name, err)
		}
	}
	if n := q.calls.Load(); n != 0 {
		t.Errorf("%d calls reached a queue", n)
	}
	if _, err := caller.Forward(t.Context(), holder.Address(), someOps); err != nil || q.calls.Load() != 1 {
		t.Errorf("the right address: %v, %d calls", err, q.calls.Load())
	}
}

func TestForward_WhatMayHaveBeenAppliedIsUnknown(t *testing.T) {
	t.Parallel()
	q := &queue{take: done}
	caller, holder := pair(t, q)
	// so that the time is too short to dial
	if _, err := caller.Forward(t.Context(), holder.Address(), someOps); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		within time.Duration
		take   func(context.Context, []resolve.Op) ([]resolve.Result, error)
	}{
		{"the caller has no time", 10 * peer.Margin, func(ctx context.Context, _ []resolve.Op) ([]resolve.Result, error) {
			<-ctx.Done()
			panic(http.ErrAbortHandler)
		}},
		{"a result is missing", time.Minute, func(context.Context, []resolve.Op) ([]resolve.Result, error) { return nil, nil }},
		{"the connection is cut", time.Minute, func(context.Context, []resolve.Op) ([]resolve.Result, error) { panic(http.ErrAbortHandler) }},
	} {
		q.take = c.take
		ctx, cancel := context.WithTimeout(t.Context(), c.within)
		if _, err := caller.Forward(ctx, holder.Address(), someOps); !errors.Is(err, cell.ErrCommitUnknown) || errors.Is(err, resolve.ErrNotHolder) {
			t.Errorf("%s: %v, want that it is not known", c.name, err)
		}
		cancel()
	}
	q.take = func(context.Context, []resolve.Op) ([]resolve.Result, error) { return nil, resolve.ErrNotHolder }
	if _, err := caller.Forward(t.Context(), holder.Address(), someOps); !errors.Is(err, resolve.ErrNotHolder) {
		t.Errorf("it holds the lease no longer: %v", err)
	}
}

// A forwarded call ends before its caller's time is over, so that the results known by then arrive.
func TestForward_EndsBeforeTheCaller(t *testing.T) {
	t.Parallel()
	var left time.Duration
	q := &queue{take: func(ctx context.Context, ops []resolve.Op) ([]resolve.Result, error) {
		until, _ := ctx.Deadline()
		left = time.Until(until)
		return done(ctx, ops)
	}}
	caller, holder := pair(t, q)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	own, _ := ctx.Deadline()
	before := time.Until(own)
	if _, err := caller.Forward(ctx, holder.Address(), someOps); err != nil || left <= 0 || left > before-peer.Margin {
		t.Errorf("%v: the forwarded call has %v, its caller had %v", err, left, before)
	}
}

// A process that is not reached is left alone for a while: a firewall would cost each call the time of a dial.
func TestForward_LeavesAloneWhatItDoesNotReach(t *testing.T) {
	t.Parallel()
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mute.Close() })
	var dialled atomic.Int64
	go func() {
		for {
			conn, err := mute.Accept()
			if err != nil {
				return
			}
			dialled.Add(1)
			_ = conn.Close()
		}
	}()
	q := &queue{take: done}
	caller, holder := pair(t, q)
	for range 3 {
		if _, err := caller.Forward(t.Context(), fmt.Sprintf("https://locus:x@%s/#sha256:00", mute.Addr()), someOps); !errors.Is(err, resolve.ErrNotHolder) {
			t.Fatal(err)
		}
	}
	if n := dialled.Load(); n != 1 {
		t.Errorf("it was dialled %d times for three calls", n)
	}
	if _, err := caller.Forward(t.Context(), holder.Address(), someOps); err != nil {
		t.Errorf("another process: %v", err)
	}
}

// An operation with a condition stays in its process, which alone can check it.
func TestForward_NoConditions(t *testing.T) {
	t.Parallel()
	q := &queue{take: done}
	caller, holder := pair(t, q)
	ops := slices.Clone(someOps)
	ops[0].Unless = func(*entity.Record) bool { return true }
	if _, err := caller.Forward(t.Context(), holder.Address(), ops); !errors.Is(err, resolve.ErrNotHolder) || q.calls.Load() != 0 {
		t.Errorf("%v after %d calls", err, q.calls.Load())
	}
}

func TestListen_NamesTheAddress(t *testing.T) {
	t.Parallel()
	if _, err := peer.Listen("192.0.2.1:0", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "192.0.2.1") {
		t.Errorf("%v", err)
	}
}
