// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

const sample = "source,key,name\nx,1,a\nx,2,b\n"

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Registers have hundreds of columns. Their refused rows, too, can be imported after correction.
func TestRecognise_ManyColumns(t *testing.T) {
	t.Parallel()
	header, row := "id,name", "1,Blue Door"
	for i := range 400 {
		header, row = header+fmt.Sprintf(",field %d", i), row+",x"
	}
	p := recognised(t, "wide", header+"\n"+row+"\n"+row+",more\n", &bulk.Options{Source: "x", IgnoreUnknown: true})
	if len(p.Sample) != 1 || len(p.Refused) != 1 {
		t.Fatalf("%d rows, %d refused", len(p.Sample), len(p.Refused))
	}
	again := recognised(t, "the refused row", string(p.Refused[0].Row)+"\n", &bulk.Options{Source: "x", IgnoreUnknown: true})
	if len(again.Sample) != 1 || again.Sample[0].Key != "1" {
		t.Errorf("the refused row comes back as %v, %v", again.Sample, again.Refused)
	}
}

func TestOpen_Files(t *testing.T) {
	t.Parallel()
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	jsonl := `{"source":"x","key":"1","name":"a"}` + "\n" + `{"source":"x","key":"2","name":"b"}` + "\n"
	dir := t.TempDir()
	want := []string{"x:1 map[name:[a]]", "x:2 map[name:[b]]"}
	for name, content := range map[string][]byte{
		"a.csv": []byte(sample), "a.csv.gz": gzipped(t, sample), "no-extension": []byte(sample),
		"a.jsonl": []byte(jsonl), "a.ndjson.gz": gzipped(t, jsonl), "b": []byte("\n " + jsonl),
		"a.csv.zst": packer.EncodeAll([]byte(sample), nil), "gzip-without-its-name": gzipped(t, "\ufeff"+sample),
		"c.gz": append(gzipped(t, sample[:20]), gzipped(t, sample[20:])...),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := open(path, nil, bulk.Auto, &bulk.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Size != int64(len(content)) {
			t.Errorf("%s: size %d, want %d", name, r.Size, len(content))
		}
		got, err := drain(t, r)
		for i := range got {
			_, got[i], _ = strings.Cut(got[i], " ")
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if r.Taken() != r.Size {
			t.Errorf("%s: %d of %d bytes taken", name, r.Taken(), r.Size)
		}
	}
}

// An archive below the compression is an archive too, and not a table with names of NUL bytes.
func TestOpen_RefusesATar(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := errors.Join(w.WriteHeader(&tar.Header{Name: "a.csv", Mode: 0o600, Size: int64(len(sample))}), write(w, sample), w.Close()); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"a.tar": b.Bytes(), "a.tgz": gzipped(t, b.String())} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := bulk.Recognise(path, nil, match.Kinds(), &bulk.Options{}); err == nil || !strings.Contains(err.Error(), "is a tar archive") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// A file that another program rewrites while it is read is reported as incomplete; one that grows is read to its
// current end.
func TestOpen_ChangedWhileRead(t *testing.T) {
	t.Parallel()
	text := "key,name\n" + strings.Repeat("1,Blue Door Books\n", 40_000) // more than one read
	for name, c := range map[string]struct {
		change func(file string) error
		whole  bool
	}{
		"shorter": {func(file string) error { return os.Truncate(file, 100) }, false},
		"longer": {func(file string) error {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("2,Corner\n")
			}
			return errors.Join(err, f.Close())
		}, true},
		"replaced": {func(file string) error {
			return errors.Join(os.WriteFile(file+".new", []byte("key,name\n"), 0o600), os.Rename(file+".new", file))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "in.csv")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := bulk.Recognise(file, nil, match.Kinds(), &bulk.Options{Source: "s"})
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			rows := 0
			for _, err := range r.All() {
				broken, ok := errors.AsType[*bulk.FileError](err)
				if ok && (c.whole || !strings.Contains(broken.Reason, "shorter")) {
					t.Errorf("row %d: %v", rows, err)
				}
				if ok {
					return
				}
				if rows++; rows == 1 {
					if err := c.change(file); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !c.whole || rows < 40_000 {
				t.Errorf("%d rows without an error", rows)
			}
		})
	}
}

func TestOpen_RefusesPlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.csv")
	for _, err := range []error{
		os.WriteFile(outside, []byte(sample), 0o600),
		os.Symlink(outside, filepath.Join(dir, "out.csv")),
		os.WriteFile(filepath.Join(dir, "real.csv"), []byte(sample), 0o600),
		os.Symlink("real.csv", filepath.Join(dir, "in.csv")),
		os.Mkdir(filepath.Join(dir, "folder"), 0o700),
		os.WriteFile(filepath.Join(dir, "cut.csv.gz"), gzipped(t, sample)[:20], 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, want string }{
		{"out.csv", "link that leads out"},
		{"folder", "is a directory"},
		{"none.csv", "cannot be opened"},
		{"none/none.csv", "cannot be opened"},
		{"cut.csv.gz", "cannot be read"},
	} {
		r, err := open(filepath.Join(dir, c.name), nil, bulk.Auto, &bulk.Options{})
		if err == nil {
			_, err = drain(t, r)
		}
		var broken *bulk.FileError
		if !errors.As(err, &broken) || !strings.Contains(broken.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	r, err := open(filepath.Join(dir, "in.csv"), nil, bulk.Auto, &bulk.Options{})
	if err != nil {
		t.Fatalf("a link inside the folder: %v", err)
	}
	r.Close()
}

// The shell names the output of a command as a link, /dev/fd/63.
func TestOpen_DescriptorOfTheProcess(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/fd/0"); err != nil {
		t.Skip("this system has no /dev/fd")
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := out.WriteString(sample); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := open(fmt.Sprintf("/dev/fd/%d", in.Fd()), nil, bulk.Auto, &bulk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := drain(t, r); len(got) != 2 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if source := bulk.SourceOf(r.Name); source != "" {
		t.Errorf("source %q, which is another one each time", source)
	}
}

// zeros is an endless file.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	n := min(int64(len(p)), z.left)
	if n == 0 {
		return 0, io.EOF
	}
	clear(p[:n])
	z.left -= n
	return int(n), nil
}

func TestOpen_StopsABombWithoutUnpackingIt(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	go func() {
		w := gzip.NewWriter(out)
		_, err := io.Copy(w, &zeros{left: 1 << 30})
		out.CloseWithError(errors.Join(err, w.Close()))
	}()
	defer in.Close()
	r, err := open(bulk.Stdin, in, bulk.JSONL, &bulk.Options{})
	if err == nil {
		_, err = drain(t, r)
	}
	var broken *bulk.FileError
	if !errors.As(err, &broken) || !strings.Contains(broken.Reason, "200 times") {
		t.Errorf("got %v", err)
	}
}

func TestNext_MemoryIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	in := io.MultiReader(strings.NewReader("source,key,name\nx,1,\""), &letters{left: 64 << 20}, strings.NewReader("\"\nx,2,b\n"))
	r, err := open(bulk.Stdin, in, bulk.CSV, &bulk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&before)
	got, err := drain(t, r)
	runtime.ReadMemStats(&after)
	if want := []string{"2 refused too_large ", "3 x:2 map[name:[b]]"}; err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %v, %v", got, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("a field of 64 MiB took %d bytes", used)
	}
}

type letters struct{ left int }

func (l *letters) Read(p []byte) (int, error) {
	n := min(len(p), l.left)
	if n == 0 {
		return 0, io.EOF
	}
	for i := range p[:n] {
		p[i] = 'a'
	}
	l.left -= n
	return n, nil
}
