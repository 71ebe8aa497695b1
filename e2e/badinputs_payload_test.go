// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// badInput is an entry of the shared list: an input and its expected result.
type badInput struct {
	ID, Surface, Name, As string
	Payload               *struct {
		Text *string
		B64  *string
		Gen  string
		Args []any
	}
	Steps  string
	Expect struct {
		Status           []int
		Code             string
		Identifier, Text string
		Then             string
	}
}

// loadBadInputs reads the list, or skips the test with a message.
func loadBadInputs(t *testing.T) []badInput {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "data")
	if sets := os.Getenv("LOCUS_DATA_SETS"); sets != "" {
		dir = sets
	}
	path := filepath.Join(dir, "..", "bad-inputs", "inputs.json")
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("bad inputs are not tried: %s is missing", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Entries []badInput }
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list.Entries
}

// bytes returns the payload. A generator of a stream is expanded by its runner.
func (e *badInput) bytes(t *testing.T) []byte {
	t.Helper()
	p := e.Payload
	switch {
	case p == nil:
		t.Fatalf("%s has no payload", e.ID)
	case p.Text != nil:
		return []byte(*p.Text)
	case p.B64 != nil:
		raw, err := base64.StdEncoding.DecodeString(*p.B64)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	text := func(i int) string { return p.Args[i].(string) }
	number := func(i int) int { return int(p.Args[i].(float64)) }
	switch p.Gen {
	case "repeat":
		return []byte(strings.Repeat(text(0), number(1)))
	case "prefix_repeat":
		return []byte(text(0) + strings.Repeat(text(1), number(2)))
	case "repeat_join":
		return []byte(text(3) + strings.Repeat(text(1)+text(0), number(2))[len(text(1)):] + text(4))
	case "random_ascii":
		return randomASCII(number(0), uint32(number(1)))
	case "nest":
		closing := map[string]string{"[": "]", "{": "}"}[text(0)]
		return []byte(strings.Repeat(text(0), number(1)) + strings.Repeat(closing, number(1)))
	case "object_names":
		return []byte("{" + list(number(0), func(i int) string { return fmt.Sprintf(`"a%d":0`, i) }, ",") + "}")
	case "header_value":
		return []byte(text(0) + ": " + strings.Repeat("x", number(1)))
	case "raw_header":
		return []byte("GET {list} HTTP/1.1\r\nHost: {host}\r\n" + text(0) + ": " + strings.Repeat("x",
			number(1)) + "\r\n\r\n")
	case "raw_headers":
		return []byte("GET {list} HTTP/1.1\r\nHost: {host}\r\n" + list(number(0), func(i int) string { return fmt.Sprintf("X-%d: 1\r\n", i+1) }, "") + "\r\n")
	case "raw_target":
		return []byte("GET /" + strings.Repeat("a", number(0)-1) + " HTTP/1.1\r\nHost: {host}\r\n\r\n")
	case "query_params":
		return []byte("{list}?" + list(number(0), func(i int) string { return fmt.Sprintf("p%d=1", i) }, "&"))
	}
	t.Fatalf("%s: unknown generator %q", e.ID, p.Gen)
	return nil
}

func list(n int, item func(int) string, sep string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(item(i))
	}
	return b.String()
}

func randomASCII(n int, x uint32) []byte {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"
	out := make([]byte, n)
	for i := range out {
		x = 1664525*x + 1013904223
		out[i] = alphabet[x>>26]
	}
	return out
}

// gzipZeros returns gzip of n zero bytes, generated while it is read.
func gzipZeros(n int64) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		z := gzip.NewWriter(w)
		_, err := io.CopyN(z, zeros{}, n)
		if err == nil {
			err = z.Close()
		}
		w.CloseWithError(err)
	}()
	return r
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// openString returns the beginning of a JSON string of n letters that is never closed.
func openString(n int64) io.Reader {
	return io.MultiReader(strings.NewReader(`{"records":[{"source":"`), io.LimitReader(letters{}, n))
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte("x"), len(p)))
	return len(p), nil
}

// inTime fills in the placeholders for times.
func inTime(text string) string {
	now := time.Now().UTC()
	return strings.NewReplacer("{today}", now.Format(time.DateOnly), "{yesterday}", now.AddDate(0, 0, -1).Format(time.DateOnly),
		"{now-8d}", now.AddDate(0, 0, -8).Format(time.RFC3339), "{now+6m}", now.Add(6*time.Minute).Format(time.RFC3339)).Replace(text)
}
