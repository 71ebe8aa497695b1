// SPDX-License-Identifier: Apache-2.0

package audits

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/storage"
)

// page is how many rows are read at once.
const page = 1000

// Before returns up to limit rows before a position, the newest first.
func (h *Handle) Before(ctx context.Context, before audit.Position, limit int) (rows []audit.Row, err error) {
	err = h.engine.View(ctx, h.engine.Map().Authority(), func(tx storage.Tx) error {
		rows, err = tx.AuditBefore(ctx, before, limit)
		return err
	})
	return rows, engine.Wrap(err)
}

// Each calls do with every row of the log as of one moment, the oldest first. The error is that of do or of the cell.
func (h *Handle) Each(ctx context.Context, do func(audit.Row) error) error {
	return engine.Wrap(h.engine.View(ctx, h.engine.Map().Authority(), func(tx storage.Tx) error {
		return each(ctx, tx, do)
	}))
}

func each(ctx context.Context, tx storage.Tx, do func(audit.Row) error) error {
	for after := (audit.Position{}); ; {
		rows, err := tx.AuditAfter(ctx, after, page)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			if err := do(r); err != nil {
				return err
			}
		}
		after = rows[len(rows)-1].Position
	}
}

// Verify verifies the log as of one moment, and checks that it contains heads that were kept elsewhere. Faults are in
// the report and not in the error.
func (h *Handle) Verify(ctx context.Context, heads []audit.Head) (report *audit.Report, err error) {
	err = h.engine.View(ctx, h.engine.Map().Authority(), func(tx storage.Tx) error {
		report, err = audit.Verify(heads, func(see func(audit.Row)) error {
			return each(ctx, tx, func(r audit.Row) error { see(r); return nil })
		})
		return err
	})
	return report, engine.Wrap(err)
}

// secretName is the definition of the secret that hashes keys of records.
const secretName = "audit"

// Hash returns a text as an HMAC under a secret of the installation, in hex, so that entries about a text can be found
// by it, and the text is not in the log.
func (h *Handle) Hash(ctx context.Context, text string) (string, error) {
	secret, err := h.keySecret(ctx)
	if err != nil {
		return "", err
	}
	sum := hmac.New(sha256.New, secret)
	sum.Write([]byte(text))
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// RecordTarget returns the target that entries have for a record: its source, and its key by Hash.
func (h *Handle) RecordTarget(ctx context.Context, source, key string) (string, error) {
	hash, err := h.Hash(ctx, source+"\x00"+key)
	return "record=" + source + "/" + hash, err
}

// keySecret returns the secret, and creates it if there is none.
func (h *Handle) keySecret(ctx context.Context) ([]byte, error) {
	h.mu.Lock()
	known := h.secret
	h.mu.Unlock()
	if known != nil {
		return known, nil
	}
	made := make([]byte, 32)
	_, _ = rand.Read(made) // it returns no error
	do := h.engine.Update
	if h.engine.ReadOnly {
		do = h.engine.View
	}
	err := do(ctx, h.engine.Map().Authority(), func(tx storage.Tx) (err error) {
		known, err = tx.Definition(ctx, secretName)
		if err != nil || known != nil {
			return err
		}
		if known = made; h.engine.ReadOnly {
			return nil
		}
		return tx.PutDefinition(ctx, secretName, made)
	})
	if err != nil {
		return nil, engine.Wrap(err)
	}
	h.mu.Lock()
	h.secret = known
	h.mu.Unlock()
	return known, nil
}
