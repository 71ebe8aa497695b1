// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Cells are the databases of an installation, opened: what package backend/all gives.
type Cells = cell.Cells[resolve.Tx]

// Options of Open. Nil is the default.
type Options struct {
	// Kinds are the kinds of things of an installation that has none yet; the first is that of records that
	// name none. Defaults to match.Kinds(). In one that has kinds those that it lacks are added, and one that
	// differs is ErrOtherKind: Switch changes it.
	Kinds []*match.Schema
	// Pack holds the statistics that names of kinds that are new are weighed with. Defaults to
	// match.DefaultPack().
	Pack *match.Pack
	// Logger receives one line per event. Defaults to discarding them.
	Logger *slog.Logger
	// Node tells the ids that this service mints from those of others. Defaults to a random one.
	Node locality.Node
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Waiting is how many callers may wait in the queue of writes. Defaults to 256.
	Waiting int
	// OnBatch, if set, is called after every group of writes. It must return soon.
	OnBatch func(resolve.Batched)
	// Retention is how long changes stay in the logs. Those that a rollup has not counted stay longer.
	// Defaults to 24 hours.
	Retention time.Duration
	// Counters says how hits are counted. Its clock defaults to Now.
	Counters counter.Options
	// Documents is the database of documents of the installation, nil if it has none. The service's from
	// then on: Close closes it, and so does an error of Open.
	Documents Documents
	// CountItself has Locus count what it does, in metrics whose names begin with OwnMetrics: each of them
	// takes a puid.
	CountItself bool
	// ReadOnly opens the service for questions: the cell map, heads and records stay as they are, and whatever would
	// change them is ErrReadOnly. Beside other processes it writes nothing at all; they keep the map, resolve, and
	// follow the rollups. Where no other process may be, it does the latter two, which only catch up with what is there.
	ReadOnly bool
	// Passive is ReadOnly that does not catch up either: not a row is written.
	Passive bool
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	d.ReadOnly = d.ReadOnly || d.Passive
	if d.Kinds == nil {
		d.Kinds = match.Kinds()
	}
	if d.Pack == nil {
		d.Pack = match.DefaultPack()
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Waiting == 0 {
		d.Waiting = 256
	}
	if d.Retention == 0 {
		d.Retention = 24 * time.Hour
	}
	return d
}

// Rules names the code that entities are made with: normalisation, features, scoring, clustering. A
// backend refuses data whose postings and edges were made by other code. Kinds and packs are data.
const Rules = "matcher 6"

// Service is Locus: it takes records, resolves them into entities and answers questions. It is
// safe for many goroutines.
type Service struct {
	opts     Options
	cells    *Cells
	keys     *cell.Directory[resolve.Tx]
	resolver *resolve.Resolver
	queue    *resolve.Queue // nil if the service is passive
	joins    tails
	keeper   *keeper
	follow   *following
	counters *counters

	switching atomic.Int32 // how many go on with a switch of a kind, of this process
}

// Open starts a service over opened cells and finishes what a crash left undone. The cells are the
// service's from then on: Close closes them, and so does an error of Open.
func Open(ctx context.Context, cells *Cells, opts *Options) (*Service, error) {
	o := opts.withDefaults()
	var asked []*match.Schema
	if opts != nil {
		asked = opts.Kinds
	}
	s := &Service{opts: o, cells: cells}
	matchers := make([]*match.Matcher, len(o.Kinds))
	var err error
	for i, kind := range o.Kinds {
		err = errors.Join(err, kind.Validate())
		matchers[i] = match.New(kind, o.Pack)
	}
	var mint func(entity.Ref, locality.Segment) (locality.ID, error)
	if err == nil {
		mint, err = s.mint()
	}
	if err == nil {
		s.resolver, err = resolve.New(resolve.Options{
			Cells: cells, Owner: owner(cells), Rules: resolve.NewRules(1, matchers...),
			Now: o.Now, OnBatch: s.batched, OnOthers: func() { s.follow.poke() }, Mint: mint,
		})
	}
	if err == nil {
		s.keys = s.resolver.Directory()
	}
	if err == nil && !o.ReadOnly {
		err = s.later(cells.Extend(ctx), "the cell map is not moved on")
	}
	if err == nil {
		err = s.adopt(ctx, asked)
	}
	if err == nil {
		err = s.attach(ctx)
	}
	if err == nil && !s.passive() {
		err = s.later(s.resolver.Drain(ctx), "what was left undone waits")
	}
	if err == nil {
		s.counters, err = count(s)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locus: open: %w", err), cells.Close(), s.detach())
	}
	s.follow = follow(s, owner(cells))
	if !s.passive() {
		s.queue = resolve.NewQueue(s.resolver, o.Waiting)
	}
	s.keeper = keep(s)
	return s, nil
}

// passive reports whether the service writes nothing, whatever there is to be caught up with: other processes do.
func (s *Service) passive() bool { return s.opts.Passive || s.opts.ReadOnly && !s.cells.Alone() }

// changes refuses what a service that only reads does not do.
func (s *Service) changes() error {
	if s.opts.ReadOnly {
		return ErrReadOnly
	}
	return nil
}

// later passes over an error that says that a cell does not answer, if the cells are shared: others go on, and the
// service does by itself what was not done.
func (s *Service) later(err error, what string) error {
	if !errors.Is(err, ErrUnavailable) || s.cells.Alone() {
		return err
	}
	s.opts.Logger.Warn(what, "err", err)
	return nil
}

// owner names this process to the others that write to the same cells, "" if there are none.
func owner(cells *Cells) string {
	if cells.Alone() {
		return ""
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8])
}

// backdated is how long before the end of a segment an id is dated that comes after it.
const backdated = time.Second

// mint makes the source of birth ids. The date of an id decides where it lives, so one that comes after the end of its
// key's generation, or of the cell map, is dated back before that end. The former happens while no newer generation
// takes keys yet, the latter to a process that was stopped or whose authority is away.
func (s *Service) mint() (func(entity.Ref, locality.Segment) (locality.ID, error), error) {
	ids, err := locality.NewGenerator(&locality.Options{Node: s.opts.Node, OnEvent: func(e locality.Event) {
		s.opts.Logger.Warn("id generator", "event", e)
	}})
	return func(_ entity.Ref, segment locality.Segment) (locality.ID, error) {
		id, err := ids.NewIn(segment)
		if !errors.Is(err, locality.ErrSegmentOver) {
			return id, err
		}
		segment.From = max(segment.From, segment.Until-backdated.Milliseconds())
		return ids.NewInPast(segment)
	}, err
}

// Close finishes the writes in flight, then closes the cells. Writes that come later are refused
// with ErrClosed.
func (s *Service) Close() error {
	s.keeper.stop()
	if s.queue != nil {
		s.queue.Close()
	}
	s.follow.stop()
	return errors.Join(s.counters.stop(), s.cells.Close(), s.detach())
}

// Kinds are the kinds of things that the service resolves, in the order of their names.
func (s *Service) Kinds() []*match.Schema {
	kinds := s.resolver.Rules().Kinds()
	schemas := make([]*match.Schema, len(kinds))
	for i, k := range kinds {
		schemas[i] = k.Matcher.Schema()
	}
	return schemas
}

// Schema is the kind of that name, nil if there is none. "" is the kind of records that name none.
func (s *Service) Schema(kind string) *match.Schema {
	if k := s.kind(kind); k != nil {
		return k.Matcher.Schema()
	}
	return nil
}

func (s *Service) kind(name string) *resolve.Kind {
	return s.resolver.Rules().Kind(name)
}

// known has the rules read again if something that is stored is of a kind which they lack: another process has
// created it.
func (s *Service) known(ctx context.Context, kind string) error {
	if s.kind(kind) != nil {
		return nil
	}
	if err := s.resolver.Reload(ctx); err != nil {
		return fmt.Errorf("%w: what is kind %s: %w", ErrUnavailable, kind, err)
	}
	if s.kind(kind) == nil {
		return fmt.Errorf("%w: the rules do not have kind %s yet", ErrUnavailable, kind)
	}
	return nil
}

// unknownKind refuses a kind that there is not.
func (s *Service) unknownKind(name string) *InvalidError {
	var names []string
	for _, k := range s.Kinds() {
		names = append(names, k.Kind)
	}
	return &InvalidError{[]Problem{{"/kind", "unknown_kind", fmt.Sprintf("there is no kind %.64q: there are %s", name, strings.Join(names, ", "))}}}
}

// Map is the cell map.
func (s *Service) Map() *cell.Map { return s.cells.Map() }

// Put writes records and resolves them; what it reports is durable when it returns. Results are in
// the order of puts; one that was refused says so and harms no other. The error is about the batch
// as a whole: nothing was applied. Putting the same again is harmless.
func (s *Service) Put(ctx context.Context, puts []Put) ([]PutResult, error) {
	if err := s.changes(); err != nil {
		return nil, err
	}
	results := make([]PutResult, len(puts))
	ops := make([]resolve.Op, 0, len(puts))
	at := make([]int, 0, len(puts))
	now := s.opts.Now()
	for i, p := range puts {
		results[i].Ref = p.Ref
		p.Attributes = sent(p.Attributes)
		kind := s.Schema(p.Kind)
		if kind == nil && !s.cells.Alone() && s.known(ctx, p.Kind) == nil {
			kind = s.Schema(p.Kind)
		}
		if kind == nil {
			results[i].Err = s.unknownKind(p.Kind)
			continue
		}
		if problems := Check(kind, now, p); len(problems) > 0 {
			results[i].Err = &InvalidError{Problems: problems}
			continue
		}
		ops = append(ops, resolve.Op{Ref: p.Ref, Kind: kind.Kind, Observed: p.Observed.UTC().Truncate(time.Millisecond), Attributes: p.Attributes})
		at = append(at, i)
	}
	if len(ops) == 0 {
		return results, nil
	}
	done, err := s.queue.Do(ctx, ops)
	if err != nil {
		return nil, wrap(err)
	}
	written := 0
	var failed error
	for n, res := range done {
		r := &results[at[n]]
		r.PUID, r.Version, r.Entity, r.Outcome, r.Pending, r.Err = res.PUID, res.Version, res.Entity, res.Outcome, res.Pending, wrap(res.Err)
		r.Watermark = res.Marks
		if res.Err == nil {
			written++
		} else {
			failed = res.Err
		}
	}
	s.counters.own.count(ownRecords, int64(written))
	if failed != nil {
		s.opts.Logger.Error("records not written", "count", len(done)-written, "err", failed)
	}
	return results, nil
}

// Delete erases records and unmerges what they held together. Tombstones without content stay, so
// that the ids that were given out go on leading somewhere. Results are in the order of refs.
func (s *Service) Delete(ctx context.Context, refs []entity.Ref) ([]DeleteResult, error) {
	if err := s.changes(); err != nil {
		return nil, err
	}
	ops := make([]resolve.Op, len(refs))
	for i, ref := range refs {
		if problems := checkRef(ref); len(problems) > 0 {
			return nil, &InvalidError{Problems: problems}
		}
		ops[i] = resolve.Op{Ref: ref, Delete: true}
	}
	done, err := s.queue.Do(ctx, ops)
	if err != nil {
		return nil, wrap(err)
	}
	results := make([]DeleteResult, len(refs))
	for i, res := range done {
		results[i] = DeleteResult{Ref: refs[i], Entity: res.Entity, Pending: res.Pending, Watermark: res.Marks, Err: wrap(res.Err)}
	}
	return results, nil
}

// nameOf is the first name of attributes.
func nameOf(schema *match.Schema, of entity.Attributes) string {
	for _, a := range schema.Attributes {
		if a.Type == match.TypeName && len(of[a.Name]) > 0 {
			return of[a.Name][0]
		}
	}
	return ""
}

func (s *Service) batched(b resolve.Batched) {
	s.opts.Logger.Debug("batch resolved", "ops", b.Ops, "failed", b.Failed, "pending", b.Pending,
		"put_ms", b.Put.Milliseconds(), "post_ms", b.Post.Milliseconds(), "resolve_ms", b.Resolve.Milliseconds())
	if b.Err != nil {
		s.opts.Logger.Warn("records wait for their resolution", "pending", b.Pending, "err", b.Err)
	}
	s.follow.poke()
	s.counters.own.count(ownMerges, int64(b.Merges))
	s.counters.own.count(ownSplits, int64(b.Splits))
	if s.opts.OnBatch != nil {
		s.opts.OnBatch(b)
	}
}

// wrap says in this package's words what went wrong.
func wrap(err error) error {
	switch {
	case err == nil, errors.Is(err, entity.ErrNotFound):
		return err
	case errors.Is(err, resolve.ErrClosed):
		return ErrClosed
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %w", ErrOverloaded, err)
	case errors.Is(err, ErrUnknownOutcome), errors.Is(err, cell.ErrDamaged), errors.Is(err, cell.ErrNoRoom), errors.Is(err, cell.ErrStaleMap), errors.Is(err, ErrUnavailable):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
