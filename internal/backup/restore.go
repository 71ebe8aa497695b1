// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

var (
	// ErrFile means that a file is no backup, is damaged or was cut off.
	ErrFile = problem.Class(problem.ErrInvalid, "not a whole backup")
	// ErrOccupied means that Restore found data where it should make a directory.
	ErrOccupied = problem.Class(problem.ErrConflict, "restore: there is data already")
)

// most limits the size of a JSON file of a backup.
const most = 64 << 20

// Is reports whether a file begins as a backup does. It only peeks; in needs a buffer of at least 64 KiB.
func Is(in *bufio.Reader) bool {
	begin, _ := in.Peek(64 << 10)
	z, err := zstd.NewReader(bytes.NewReader(begin), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return false
	}
	defer z.Close()
	name := make([]byte, len(headerName))
	_, err = io.ReadFull(z, name)
	return err == nil && string(name) == headerName
}

// Restore restores a data directory from the output of Write. Its cells skip the numbers that the original may have
// allocated after the backup, so the directory may be served at once. It appears under its name when it is complete; a
// process that is killed leaves a directory DIR.restoring-* beside it, which can be deleted.
func Restore(ctx context.Context, dir string, in io.Reader) (_ *Manifest, err error) {
	dir = filepath.Clean(dir)
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		return nil, fmt.Errorf("%w: in %s: choose another directory", ErrOccupied, dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	part, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".restoring-*")
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(part)
		}
	}()
	m, err := extract(ctx, part, in)
	if err == nil {
		err = opened(ctx, part, m, func(cells *storage.Cells) error { return cell.Reincarnate(ctx, cells) })
	}
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // the directory was empty
		return nil, fmt.Errorf("%w: in %s: %w", ErrOccupied, dir, err)
	}
	if err := os.Rename(part, dir); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return m, syncDir(filepath.Dir(dir))
}

// extract writes the files of a backup below dir, durably, and compares them with its manifest.
func extract(ctx context.Context, dir string, in io.Reader) (*Manifest, error) {
	z, err := zstd.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	defer z.Close()
	entries := tar.NewReader(z)
	var files []File
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: it ends before its manifest", ErrFile)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFile, err)
		}
		switch entry.Name {
		case headerName, manifestName:
			var m Manifest
			text, err := io.ReadAll(io.LimitReader(entries, most))
			if err == nil {
				err = json.Unmarshal(text, &m)
			}
			if err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrFile, entry.Name, err)
			}
			if m.Format != Format {
				return nil, fmt.Errorf("%w: its format is %d, this Locus reads %d: restore with the release that wrote it", ErrFile,
					m.Format, Format)
			}
			if entry.Name == headerName {
				continue
			}
			for i := range m.Files { // the tar has neither cells nor counts
				if i < len(files) {
					files[i].Cell, files[i].Records, files[i].Entities = m.Files[i].Cell, m.Files[i].Records, m.Files[i].Entities
				}
			}
			if !slices.Equal(m.Files, files) {
				return nil, fmt.Errorf("%w: its files are not those of its manifest", ErrFile)
			}
			return &m, ended(entries, z)
		}
		f, err := write(ctx, dir, entry.Name, entries)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
}

// ended reads the end of a backup, which has a checksum of all of it, because the manifest and the header have no
// checksums.
func ended(entries *tar.Reader, z io.Reader) error {
	switch _, err := entries.Next(); {
	case err == nil:
		return fmt.Errorf("%w: it goes on after its manifest", ErrFile)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("%w: its end is damaged: %w", ErrFile, err)
	}
	if _, err := io.Copy(io.Discard, z); err != nil {
		return fmt.Errorf("%w: its end is damaged: %w", ErrFile, err)
	}
	return nil
}

// write writes one file below dir.
func write(ctx context.Context, dir, name string, in io.Reader) (of File, err error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return of, fmt.Errorf("%w: %q leads out of the directory", ErrFile, name)
	}
	at := filepath.Join(dir, local)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return of, fmt.Errorf("write %s: %w", name, err)
	}
	f, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) { // dir was empty
		return of, fmt.Errorf("%w: it has %s twice", ErrFile, name)
	} else if err != nil {
		return of, fmt.Errorf("write %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := sha256.New()
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return of, err
		}
		n, failed := in.Read(buf)
		hash.Write(buf[:n])
		of.Bytes += int64(n)
		if _, err := f.Write(buf[:n]); err != nil {
			return of, fmt.Errorf("write %s: %w", name, err)
		}
		if errors.Is(failed, io.EOF) {
			break
		}
		if failed != nil {
			return of, fmt.Errorf("%w: %s: %w", ErrFile, name, failed)
		}
	}
	if err := errors.Join(f.Sync(), syncDir(filepath.Dir(at))); err != nil {
		return of, fmt.Errorf("write %s: %w", name, err)
	}
	of.Name, of.SHA256 = name, hex.EncodeToString(hash.Sum(nil))
	return of, nil
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
