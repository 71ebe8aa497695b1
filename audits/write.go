// SPDX-License-Identifier: Apache-2.0

package audits

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/storage"
)

// write stores the entries of the queue, all that wait in one transaction, until the queue is closed.
func (h *Handle) write() {
	defer close(h.done)
	for first := range h.queue {
		group := append(h.left, first)
		h.left = nil
		for range len(h.queue) {
			p, open := <-h.queue
			if !open {
				break
			}
			group = append(group, p)
		}
		h.store(group)
	}
	if len(h.left) > 0 {
		h.store(h.left)
	}
}

// store stores a group of entries. An error is returned to the callers that wait; the entries of actions that have
// already happened are kept for the next group.
func (h *Handle) store(group []*pending) {
	err := h.commit(func(_ context.Context, _ storage.Tx, add func(audit.Entry) (audit.Row, error)) error {
		for _, p := range group {
			if p.of != nil && p.of.head.Chain != "" {
				p.entry.Of = &p.of.head
			}
			r, err := add(p.entry)
			if err != nil {
				return err
			}
			p.head = r.Head()
		}
		return nil
	})
	if err != nil {
		h.failures.Add(1)
		h.engine.Logger.Error("audit log write failed", "entries", len(group), "err", err)
	}
	for _, p := range group {
		switch {
		case p.err != nil:
			p.err <- err
		case err != nil && len(h.left) < waiting:
			h.left = append(h.left, p)
		}
	}
	if err != nil {
		return
	}
	switch now := time.Now(); {
	case h.logged.IsZero():
		h.logged = now // a command, which is short, logs none
	case now.Sub(h.logged) >= summary:
		h.logged = now
		last := h.chain.Last().Head()
		h.engine.Logger.Info("audit head", "chain", last.Chain, "seq", last.Seq, "hash", last.Hash)
	}
	if now := h.engine.Now(); now.Sub(h.trim) >= trimEvery {
		h.dropOld(now)
	}
}

// commit runs fn in a transaction of the authority, with a function that appends an entry to the chain. fn may run
// several times.
func (h *Handle) commit(fn func(context.Context, storage.Tx, func(audit.Entry) (audit.Row, error)) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var chain audit.Chain
	var rows []audit.Row
	err := h.engine.DoSettled(ctx, h.engine.Map().Authority(), func(c storage.Cell) error {
		return c.Update(ctx, func(tx storage.Tx) error {
			rows = nil
			add := func(e audit.Entry) (audit.Row, error) {
				r, err := chain.Append(e, h.engine.Now())
				rows = append(rows, r)
				return r, err
			}
			if h.chain != nil {
				chain = *h.chain
			} else if err := begin(ctx, tx, &chain, add); err != nil {
				return err
			}
			if err := fn(ctx, tx, add); err != nil {
				return err
			}
			return tx.PutAudit(ctx, rows)
		})
	})
	if err != nil {
		h.chain = nil // whether the rows were stored is not known
		return err
	}
	h.chain = &chain
	h.passOn(rows)
	return nil
}

// passOn writes stored rows to the copy of the log.
func (h *Handle) passOn(rows []audit.Row) {
	if h.copy == nil {
		return
	}
	var lines bytes.Buffer
	for _, r := range rows {
		lines.WriteString(r.Body + "\n")
	}
	if _, err := h.copy.Write(lines.Bytes()); err != nil {
		h.failures.Add(1)
		h.engine.Logger.Error("audit file write failed", "entries", len(rows), "err", err)
	}
}

// begin begins a chain with an entry that names the newest entry of the log.
func begin(ctx context.Context, tx storage.Tx, chain *audit.Chain, add func(audit.Entry) (audit.Row, error)) error {
	var id [8]byte
	_, _ = rand.Read(id[:]) // it returns no error
	*chain = *audit.NewChain(int64(binary.BigEndian.Uint64(id[:])>>1) | 1)
	newest, err := tx.AuditBefore(ctx, audit.End, 1)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	e := audit.Entry{Phase: audit.Start, Class: audit.Admin,
		Targets: []string{fmt.Sprintf("process=%s/%d", host, os.Getpid())}}
	if len(newest) > 0 {
		head := newest[0].Head()
		e.Newest = &head
	}
	_, err = add(e)
	return err
}

// dropOld removes rows that are older than audit.Keep, and records it. An error delays it by a day.
func (h *Handle) dropOld(now time.Time) {
	h.trim = now
	more, err := h.hasOld(now)
	for more && err == nil {
		err = h.commit(func(ctx context.Context, tx storage.Tx, add func(audit.Entry) (audit.Row, error)) error {
			oldest, err := tx.AuditAfter(ctx, audit.Position{}, trimmed)
			if err != nil {
				return err
			}
			old, record := audit.Trim(oldest, now)
			if more = len(old) == trimmed; record == nil {
				return nil
			}
			if _, err := add(*record); err != nil {
				return err
			}
			return tx.DropAudit(ctx, old)
		})
	}
	if err != nil {
		h.engine.Logger.Warn("audit log trimming failed", "err", err)
	}
}

// hasOld reports whether the oldest row may be removed. Every process checks once, also one that runs a short command.
func (h *Handle) hasOld(now time.Time) (old bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err = h.engine.View(ctx, h.engine.Map().Authority(), func(tx storage.Tx) error {
		oldest, err := tx.AuditAfter(ctx, audit.Position{}, 1)
		_, record := audit.Trim(oldest, now)
		old = record != nil
		return err
	})
	return old, err
}
