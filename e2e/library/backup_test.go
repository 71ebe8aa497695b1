// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/backup"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/rollup"
)

// A directory is backed up while records are merged, hits counted and a rollup followed. Each backup has everything
// that was acknowledged before it began, a check finds nothing in it, and the numbers that it allocates next are not
// used by the original.
func TestP07_ABackupUnderLoadIsOfOneMoment(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := open(t, t.TempDir(), 4)
	defer s.Close()
	_, _, err := s.Rollups().Define(t.Context(), rollup.Definition{Name: "names", Kind: "place", Group: []string{"name"}})
	must(t, err)
	var puts, hits atomic.Int64
	stop := make(chan struct{})
	var writers sync.WaitGroup
	input := func(i int64) records.Input {
		return record("s", fmt.Sprint(i), fmt.Sprintf("Zephyr Trampolines %d", i%17), fmt.Sprintf("415-555-%04d", i%23), "")
	}
	written := make(chan struct{}, 1)
	repeat := func(write func() error) {
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := write()
				if err != nil {
					t.Error(err)
				}
				select {
				case written <- struct{}{}:
				default:
				}
				if err != nil {
					return
				}
			}
		})
	}
	repeat(func() error {
		n := puts.Load()
		batch := []records.Input{input(n), input(n + 1), input(n + 2)}
		results, err := s.Records().Put(t.Context(), batch)
		for _, r := range results {
			err = errors.Join(err, r.Err)
		}
		if err == nil {
			puts.Add(int64(len(batch)))
		}
		return err
	})
	repeat(func() error {
		answer, err := s.Counters().Add(t.Context(),
			counter.Batch{Hits: []counter.Hit{{Metric: "a", N: 1}, {Metric: "b", N: 1}, {Metric: "c", N: 1}}})
		err = errors.Join(append(answer.Results, err)...)
		if err == nil {
			hits.Add(1)
		}
		return err
	})
	type copied struct {
		file       []byte
		puts, hits int64
	}
	var copies []copied
	for range longtest.Sample(2, 3, 2, 20) {
		for puts.Load() < int64(60*(len(copies)+1)) && !t.Failed() {
			<-written
		}
		c := copied{puts: puts.Load(), hits: hits.Load()}
		var file bytes.Buffer
		if _, err := s.Backup(t.Context(), &file); err != nil {
			t.Fatal(err)
		}
		c.file = file.Bytes()
		copies = append(copies, c)
	}
	close(stop)
	writers.Wait()
	for _, c := range copies {
		dir := filepath.Join(t.TempDir(), "restored")
		if _, err := locus.RestoreBackup(t.Context(), dir, bytes.NewReader(c.file)); err != nil {
			t.Fatal(err)
		}
		r := open(t, dir, 0)
		must(t, r.Cells().Check(t.Context(), cells.Checking{}, func(d cells.Difference) error {
			t.Errorf("%+v", d)
			return nil
		}, nil))
		var refs []entity.Ref
		for i := range c.puts {
			refs = append(refs, input(i).Ref)
		}
		for _, ref := range refs {
			if _, err := r.Records().Get(t.Context(), ref); err != nil {
				t.Fatalf("of %d records: %v", len(refs), err)
			}
		}
		for _, m := range []counter.Metric{"a", "b", "c"} {
			if n := total(t, r, m); n < c.hits {
				t.Errorf("%d hits of %s, want %d at least", n, m, c.hits)
			}
		}
		fresh := put(t, r, record("new", "1", "Quill Dental", "", ""))[0]
		if same, err := s.Records().ByPUID(t.Context(), []entity.PUID{fresh.PUID}); err != nil || same[0] != nil {
			t.Errorf("record %v has the puid of another one of the original: %v, %v", fresh, same, err)
		}
		must(t, r.Close())
	}
}

// A backup with the hashes of its files is refused all the same if a file is no sound database, or has other rows than
// were counted.
func TestP07_ABackupIsReadBeforeItIsBelieved(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), 2)
	put(t, s, record("s", "1", "Quill Dental", "", ""), record("s", "2", "Zephyr Trampolines", "", ""),
		record("s", "3", "Quill Dental", "", ""))
	var whole bytes.Buffer
	made, err := s.Backup(t.Context(), &whole)
	must(t, err)
	must(t, s.Close())
	if got, err := locus.VerifyBackup(t.Context(), bytes.NewReader(whole.Bytes())); err != nil || got.Records() != 3 || got.Entities() != 2 || !reflect.DeepEqual(got, made) {
		t.Errorf("verified %+v, %v; made %+v", got, err, made)
	}
	for name, alter := range map[string]func(file []byte, f *backup.File){
		"a page": func(file []byte, _ *backup.File) { // the root of a table or an index: none of the first pages is empty
			const page = 4096
			clear(file[5*page : 6*page])
		},
		"a record":  func(_ []byte, f *backup.File) { f.Records++ },
		"an entity": func(_ []byte, f *backup.File) { f.Entities-- },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := rewritten(t, whole.Bytes(), alter)
			if _, err := locus.VerifyBackup(t.Context(), bytes.NewReader(file)); !errors.Is(err, locus.ErrBackupFile) {
				t.Errorf("verified: %v", err)
			}
			dir := filepath.Join(t.TempDir(), "restored")
			if _, err := locus.RestoreBackup(t.Context(), dir, bytes.NewReader(file)); !errors.Is(err, locus.ErrBackupFile) {
				t.Errorf("restored: %v", err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is a directory: %v", err)
			}
		})
	}
}

// rewritten returns a backup whose last file, or its entry in the manifest, is altered, with the file's new hash in the
// manifest.
func rewritten(t *testing.T, whole []byte, alter func(file []byte, f *backup.File)) []byte {
	t.Helper()
	var out, file bytes.Buffer
	z, err := zstd.NewWriter(&out)
	must(t, err)
	to, from := tar.NewWriter(z), tar.NewReader(bytes.NewReader(unpacked(whole)))
	var last *tar.Header
	add := func(h *tar.Header, content []byte) {
		h.Size = int64(len(content))
		must(t, to.WriteHeader(h))
		_, err := to.Write(content)
		must(t, err)
	}
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		content, err := io.ReadAll(from)
		must(t, err)
		if h.Name == "manifest.json" {
			var m backup.Manifest
			must(t, json.Unmarshal(content, &m))
			f := &m.Files[len(m.Files)-1]
			alter(file.Bytes(), f)
			f.SHA256 = fmt.Sprintf("%x", sha256.Sum256(file.Bytes()))
			add(last, file.Bytes())
			content, err = json.Marshal(m)
			must(t, err)
			add(h, content)
			break
		}
		if last != nil {
			add(last, file.Bytes())
		}
		last = h
		file.Reset()
		file.Write(content)
	}
	must(t, errors.Join(to.Close(), z.Close()))
	return out.Bytes()
}

// A backup that was cut off, or in which a byte differs, makes no directory.
func TestP07_ADamagedBackupIsNotRestored(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), 2)
	put(t, s, record("s", "1", "Quill Dental", "", ""), record("s", "2", "Zephyr Trampolines", "", ""))
	var whole bytes.Buffer
	if _, err := s.Backup(t.Context(), &whole); err != nil {
		t.Fatal(err)
	}
	must(t, s.Close())
	r := rand.New(rand.NewPCG(7, 1))
	dir := t.TempDir()
	for range longtest.Sample(20, 60, 40, 2000) {
		file := bytes.Clone(whole.Bytes())
		at := r.IntN(len(file))
		if r.IntN(2) == 0 { // the end, with the checksum of the whole
			at = len(file) - 1 - r.IntN(16)
		}
		if r.IntN(3) == 0 {
			file = file[:at]
		} else {
			file[at] ^= byte(1 + r.IntN(255))
		}
		_, verified := locus.VerifyBackup(t.Context(), bytes.NewReader(file))
		_, err := locus.RestoreBackup(t.Context(), filepath.Join(dir, "restored"), bytes.NewReader(file))
		if (verified == nil) != (err == nil) || err != nil && !errors.Is(verified, locus.ErrBackupFile) {
			t.Fatalf("byte %d of %d: verified %v, restored %v", at, whole.Len(), verified, err)
		}
		// a byte about the compression, such as its window
		if err == nil && bytes.Equal(unpacked(file), unpacked(whole.Bytes())) {
			must(t, os.RemoveAll(filepath.Join(dir, "restored")))
		} else if !errors.Is(err, locus.ErrBackupFile) {
			t.Fatalf("byte %d of %d: %v", at, whole.Len(), err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("byte %d of %d left %v, %v", at, whole.Len(), left, err)
		}
	}
	altered := unpacked(whole.Bytes())
	altered[len(altered)/2] ^= 1 // and compressed again, so that the checksum of the whole is right
	z, err := zstd.NewWriter(nil)
	must(t, err)
	if _, err := locus.RestoreBackup(t.Context(), filepath.Join(dir, "restored"), bytes.NewReader(z.EncodeAll(altered, nil))); !errors.Is(err, locus.ErrBackupFile) {
		t.Errorf("a file that is not that of the manifest: %v", err)
	}
	var twice bytes.Buffer // a damaged block can repeat the name of a file before it
	to := tar.NewWriter(&twice)
	for range 2 {
		must(t, to.WriteHeader(&tar.Header{Name: "cells/g0-0.db", Mode: 0o600}))
	}
	must(t, to.Close())
	if _, err := locus.RestoreBackup(t.Context(), filepath.Join(dir, "restored"), bytes.NewReader(z.EncodeAll(twice.Bytes(), nil))); !errors.Is(err, locus.ErrBackupFile) {
		t.Errorf("a file that is there twice: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	if _, err := locus.RestoreBackup(t.Context(), dir, &whole); !errors.Is(err, locus.ErrConflict) {
		t.Errorf("into a directory with a file: %v", err)
	}
}

// unpacked returns the decompressed content of a file, nil if it is damaged.
func unpacked(file []byte) []byte {
	z, err := zstd.NewReader(nil)
	if err != nil {
		return nil
	}
	defer z.Close()
	content, err := z.DecodeAll(file, nil)
	if err != nil {
		return nil
	}
	return content
}
