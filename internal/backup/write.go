// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/snapshot"
	"github.com/locus-db/locus/storage"
)

// Format is the version of the file's format.
const Format = 1

const (
	headerName   = "locus-backup.json"
	manifestName = "manifest.json"
)

// ErrElsewhere means that a cell is not in a file below the directory, so that a copy of the directory lacks it.
var ErrElsewhere = problem.Class(problem.ErrConflict, "backup: only cells in files of a data directory are copied")

// Manifest describes a backup.
type Manifest struct {
	Format int `json:"format"`
	// Map and Epoch are the id and the epoch of the cell map.
	Map   string `json:"map"`
	Epoch uint64 `json:"epoch"`
	// At is when the snapshots were opened, and Watermark the end of each cell's log at that time.
	At        time.Time `json:"at"`
	Watermark string    `json:"watermark"`
	// Bytes is the size of the files together, which are missing in the header.
	Bytes int64  `json:"bytes"`
	Files []File `json:"files,omitempty"`
}

// File is the file of a cell.
type File struct {
	Cell   cell.ID `json:"cell"`
	Name   string  `json:"name"`
	Bytes  int64   `json:"bytes"`
	SHA256 string  `json:"sha256"`
	// Records and Entities are how many the cell had.
	Records  int64 `json:"records"`
	Entities int64 `json:"entities"`
}

// Records returns how many records all cells had together.
func (m *Manifest) Records() (n int64) {
	for _, f := range m.Files {
		n += f.Records
	}
	return n
}

// Entities returns how many entities all cells had together.
func (m *Manifest) Entities() (n int64) {
	for _, f := range m.Files {
		n += f.Entities
	}
	return n
}

// inFile is a transaction of a cell that is in a file.
type inFile interface {
	FileSize(ctx context.Context) (int64, error)
	WriteFile(ctx context.Context, w io.Writer) error
	CheckFile(ctx context.Context) (records, entities int64, err error)
}

// Write copies the cells as of one moment, while they are written to: writes wait for the milliseconds that
// opening the snapshots takes. Nothing is written to w before that. The write-ahead logs of the cells cannot shrink until
// Write returns.
func Write(ctx context.Context, e *engine.Engine, w io.Writer) (*Manifest, error) {
	m := e.Map()
	for _, id := range m.Cells() {
		if _, err := nameOf(m, id); err != nil {
			return nil, err
		}
	}
	c := &copying{}
	_, err := snapshot.Read(ctx, e, snapshot.Reading{
		Still:  true,
		Opened: func(o *snapshot.Opened) error { return c.begin(e, o, w) },
		Scan:   c.cell,
	})
	if err == nil {
		err = c.end()
	}
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return &c.Manifest, nil
}

// nameOf returns the path of a cell's file below the directory, with slashes.
func nameOf(m *cell.Map, id cell.ID) (string, error) {
	name, ok := strings.CutPrefix(m.URL(id), storage.Default+":")
	if !ok || path.IsAbs(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("%w: cell %v is at %s: back up its server, or move the cell into the directory; locus dump copies any installation",
			ErrElsewhere, id, cell.Redact(m.URL(id)))
	}
	return path.Clean(name), nil
}

// copying is a backup while it is written. The snapshots stay open until all cells are written, one after the other.
type copying struct {
	Manifest
	m   *cell.Map
	z   *zstd.Encoder
	tar *tar.Writer
	mu  sync.Mutex
}

// begin writes the header, in a block of its own, for Is.
func (c *copying) begin(e *engine.Engine, o *snapshot.Opened, w io.Writer) (err error) {
	c.m = e.Map()
	c.Manifest = Manifest{Format: Format, Map: c.m.Spec().ID, Epoch: c.m.Epoch(), At: e.Now().UTC(),
		Watermark: o.Watermark.String()}
	if c.z, err = zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); err != nil {
		return err
	}
	c.tar = tar.NewWriter(c.z)
	if err := c.json(headerName); err != nil {
		return err
	}
	return errors.Join(c.tar.Flush(), c.z.Flush())
}

// end writes the manifest, and the checksum of the whole.
func (c *copying) end() error {
	if err := c.json(manifestName); err != nil {
		return err
	}
	return errors.Join(c.tar.Close(), c.z.Close())
}

// json writes the manifest in its current state.
func (c *copying) json(name string) error {
	text, err := json.Marshal(&c.Manifest)
	if err != nil {
		return err
	}
	if err := c.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), ModTime: c.At}); err != nil {
		return err
	}
	_, err = c.tar.Write(text)
	return err
}

// cell writes the file of a cell.
func (c *copying) cell(ctx context.Context, id cell.ID, t storage.Tx) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	of := File{Cell: id}
	tx, ok := t.(inFile)
	var err error
	if of.Name, err = nameOf(c.m, id); err == nil && !ok {
		err = fmt.Errorf("%w: cell %v is not", ErrElsewhere, id)
	}
	if err != nil {
		return err
	}
	counts, err := t.Counts(ctx)
	if err != nil {
		return err
	}
	of.Records, of.Entities = counts.Records, counts.Entities
	if of.Bytes, err = tx.FileSize(ctx); err != nil {
		return err
	}
	if err := c.tar.WriteHeader(&tar.Header{Name: of.Name, Mode: 0o600, Size: of.Bytes, ModTime: c.At}); err != nil {
		return err
	}
	hash := sha256.New()
	if err := tx.WriteFile(ctx, io.MultiWriter(c.tar, hash)); err != nil {
		return err
	}
	of.SHA256 = hex.EncodeToString(hash.Sum(nil))
	c.Files, c.Bytes = append(c.Files, of), c.Bytes+of.Bytes
	return nil
}
