// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/locus-db/locus/audits"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/counters"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/dump"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/peer"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/quality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/review"
	"github.com/locus-db/locus/rollups"
	"github.com/locus-db/locus/sinks"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/tokens"
)

// DB is an open installation, with one handle for each noun. It is safe for concurrent use.
type DB struct {
	engine     *engine.Engine
	maintainer *engine.Maintainer

	records   *records.Handle
	entities  *entities.Handle
	decisions *decisions.Handle
	review    *review.Handle
	quality   *quality.Handle
	explain   *explain.Handle
	kinds     *kinds.Handle
	rollups   *rollups.Handle
	counters  *counters.Handle
	changes   *changes.Handle
	cells     *cells.Handle
	sinks     *sinks.Handle
	sources   *sources.Handle
	tokens    *tokens.Handle
	audit     *audits.Handle

	peers *peer.Peers // nil if this process takes no writes from others
	close func() error
}

// Records returns the handle that puts, reads, lists, deletes and erases records.
func (db *DB) Records() *records.Handle { return db.records }

// Entities returns the handle that reads and searches entities.
func (db *DB) Entities() *entities.Handle { return db.entities }

// Decisions returns the handle that makes, withdraws and lists human decisions.
func (db *DB) Decisions() *decisions.Handle { return db.decisions }

// Review returns the handle that lists and assigns the pairs of records to review.
func (db *DB) Review() *review.Handle { return db.review }

// Quality returns the handle that estimates how good the entities are, and profiles the data.
func (db *DB) Quality() *quality.Handle { return db.quality }

// Explain returns the handle that explains why records are or are not one entity.
func (db *DB) Explain() *explain.Handle { return db.explain }

// Kinds returns the handle that lists, creates, compares and migrates kinds.
func (db *DB) Kinds() *kinds.Handle { return db.kinds }

// Rollups returns the handle that defines, reads and verifies rollups.
func (db *DB) Rollups() *rollups.Handle { return db.rollups }

// Counters returns the handle that adds hits to metrics and reads series.
func (db *DB) Counters() *counters.Handle { return db.counters }

// Changes returns the handle that reads the changelogs.
func (db *DB) Changes() *changes.Handle { return db.changes }

// Cells returns the handle that inspects, grows, moves and vacuums the databases of the installation.
func (db *DB) Cells() *cells.Handle { return db.cells }

// Sinks returns the handle that creates, pauses and lists the targets that the installation delivers to.
func (db *DB) Sinks() *sinks.Handle { return db.sinks }

// Sources returns the handle that creates, pauses and lists the streams that the installation reads.
func (db *DB) Sources() *sources.Handle { return db.sources }

// Tokens returns the handle that creates, lists, revokes and checks the API tokens of the installation.
func (db *DB) Tokens() *tokens.Handle { return db.tokens }

// Audit returns the handle that writes, reads and verifies the audit log of the installation.
func (db *DB) Audit() *audits.Handle { return db.audit }

// Open opens the installation at a URL, creates it if there is none, and finishes work that a crash interrupted.
// sqlite:DIR, or just DIR, is a data directory, which no other process can open at the same time. postgres://HOST/NAME
// is an installation in PostgreSQL databases, which any number of processes can share. The package of the backend must
// be imported; see package storage, also for errors such as storage.ErrInUse.
func Open(ctx context.Context, url string, opts *Options) (*DB, error) {
	o := opts.withDefaults()
	opened, err := storage.Open(ctx, url, &o.Storage)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locus: open: %w", err), closeDocuments(o.Documents))
	}
	return OpenCells(ctx, opened, opts)
}

// OpenCells is Open for cells that are already open. The DB takes ownership of them: Close closes them, and so does an
// error of OpenCells.
func OpenCells(ctx context.Context, opened *storage.Cells, opts *Options) (*DB, error) {
	return openCells(ctx, opened, opts, dump.CheckFinished)
}

// openCells is OpenCells, after a check of the cells unless that is nil.
func openCells(ctx context.Context, opened *storage.Cells, opts *Options,
	check func(context.Context, *storage.Cells) error) (*DB, error) {
	o := opts.withDefaults()
	var asked []*match.Schema
	if opts != nil {
		asked = opts.Kinds
	}
	db := &DB{engine: &engine.Engine{Cells: opened, Logger: o.Logger, Tracer: o.Tracer, Now: o.Now, ReadOnly: o.ReadOnly,
		Documents: o.Documents, MaxRollups: o.MaxRollups, MaxKinds: o.MaxKinds, AccessGrace: o.AccessGrace}}
	db.close = sync.OnceValue(db.shut)
	db.engine.Passive = o.Passive || o.ReadOnly && !opened.Alone()
	var err error
	if check != nil {
		err = db.engine.Later(check(ctx, opened), "whether a restore has finished is not known")
	}
	if err == nil {
		err = db.open(ctx, &o, asked)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locus: open: %w", err), db.closePeers(), opened.Close(),
			closeDocuments(o.Documents))
	}
	return db, nil
}

func (db *DB) open(ctx context.Context, o *Options, asked []*match.Schema) error {
	e := db.engine
	matchers := make([]*match.Matcher, len(o.Kinds))
	for i, kind := range o.Kinds {
		if err := kind.Validate(); err != nil {
			return err
		}
		matchers[i] = match.New(kind, o.TermFrequencies)
	}
	mint, err := resolve.NewMint(o.Node, o.Now, o.Logger)
	if err != nil {
		return err
	}
	owner := ownerOf(e)
	var peers resolve.Peers
	if o.PeerAddr != "" && owner != "" && !e.Passive && !o.Hold {
		if db.peers, err = peer.Listen(o.PeerAddr, o.Logger); err != nil {
			return err
		}
		peers = db.peers
	}
	e.Resolver, err = resolve.New(resolve.Options{
		Cells: e.Cells, Owner: owner, Peers: peers, Rules: resolve.NewRules(1, matchers...), Now: o.Now, Mint: mint,
		Hold:    o.Hold,
		OnBatch: func(b resolve.Batched) { db.batched(b, o.OnBatch) }, OnOthers: func() { db.rollups.Wake() },
	})
	if err != nil {
		return err
	}
	e.Keys = e.Resolver.Directory()
	if !o.ReadOnly {
		if err := e.Later(e.Cells.Extend(ctx), "the cell map is not extended"); err != nil {
			return err
		}
	}
	db.kinds = kinds.New(e)
	if err := db.kinds.Adopt(ctx, asked, o.Kinds, o.TermFrequencies); err != nil {
		return err
	}
	if err := e.AttachDocuments(ctx); err != nil {
		return err
	}
	if !e.Passive {
		if err := e.Later(e.Resolver.Drain(ctx), "what was left undone waits"); err != nil {
			return err
		}
	}
	if db.counters, err = counters.Open(e, o.Counters, o.CountItself); err != nil {
		return err
	}
	db.changes = changes.New(e)
	db.rollups = rollups.Open(e, db.changes, owner, o.Retention, sinks.Holds(e))
	e.Written, e.Count = db.rollups.Wake, db.counters.CountOwn
	if !e.Passive {
		e.Queue = resolve.NewQueue(e.Resolver, o.Waiting)
	}
	if db.peers != nil {
		db.peers.Serve(e.Queue)
	}
	db.records = records.New(e)
	db.entities = entities.New(e, db.records)
	db.decisions = decisions.New(e, db.records, db.entities)
	db.review = review.New(e, db.entities, db.decisions)
	db.quality = quality.New(e)
	db.explain = explain.New(e, db.records, db.entities, db.decisions)
	db.audit = audits.New(e, o.Audit)
	db.cells = cells.New(e, db.rollups, db.audit)
	db.sinks = sinks.Open(e, db.changes, owner, o.Sinks)
	db.sources = sources.Open(e, db.records, owner, o.Sources)
	db.tokens = tokens.New(e)
	db.maintainer = e.NewMaintainer()
	db.maintainer.Start()
	return nil
}

// Close finishes the writes in flight, then closes the cells. Later writes return ErrClosed. Repeating it returns the
// error of the first call.
func (db *DB) Close() error { return db.close() }

func (db *DB) shut() error {
	db.sinks.Close()
	db.sources.Close()
	db.maintainer.Stop()
	failed := db.closePeers()
	if db.engine.Queue != nil {
		db.engine.Queue.Close()
	}
	db.rollups.Close()
	db.audit.Close()
	return errors.Join(failed, db.counters.Close(), db.engine.Cells.Close(), closeDocuments(db.engine.Documents))
}

// peersLeave is how long calls of other processes may take that have begun when the DB is closed.
const peersLeave = 5 * time.Second

func (db *DB) closePeers() error {
	if db.peers == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), peersLeave)
	defer cancel()
	return db.peers.Close(ctx)
}

func closeDocuments(d Documents) error {
	if d == nil {
		return nil
	}
	return d.Close(context.Background())
}

// batched logs and counts each finished group of writes and wakes the rollups.
func (db *DB) batched(b resolve.Batched, then func(resolve.Batched)) {
	e := db.engine
	e.Logger.Debug("batch resolved", "ops", b.Ops, "failed", b.Failed, "pending", b.Pending,
		"put_ms", b.Put.Milliseconds(), "post_ms", b.Post.Milliseconds(), "resolve_ms", b.Resolve.Milliseconds())
	if b.Err != nil {
		e.Logger.Warn("records stored, resolution pending", "pending", b.Pending, "err", b.Err)
	}
	db.rollups.Wake()
	db.counters.CountOwn(engine.OwnMerges, int64(b.Merges))
	db.counters.CountOwn(engine.OwnSplits, int64(b.Splits))
	if then != nil {
		then(b)
	}
}

// ownerOf returns a name that distinguishes this process from others that share the cells, "" if the cells are not
// shared.
func ownerOf(e *engine.Engine) string {
	if e.Alone() {
		return ""
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8])
}
