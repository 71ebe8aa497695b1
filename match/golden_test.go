// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
)

var update = flag.Bool("update", false, "rewrite the golden files; read the diff before it is committed")

// golden compares a file of testdata, line by line, with the result of answer for each line; with -update
// it rewrites the file. Empty lines and lines that begin with # are kept.
func golden(t *testing.T, name string, answer func(line string) (string, error)) int {
	t.Helper()
	path := filepath.Join("testdata", name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cases := 0
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			fmt.Fprintln(&out, line)
			continue
		}
		got, err := answer(line)
		if err != nil {
			t.Fatalf("%s:%d: %v", path, n, err)
		}
		cases++
		if got != line && !*update {
			t.Errorf("%s:%d: (-want +got)\n%s", path, n, cmp.Diff(line, got))
		}
		fmt.Fprintln(&out, got)
	}
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return cases
}

// A line of normalise.golden is: attribute, quoted raw value, quoted normal form.
func TestGolden_Normalise(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	cases := golden(t, "normalise.golden", func(line string) (string, error) {
		attribute, rest, _ := strings.Cut(line, " ")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return "", fmt.Errorf("no quoted value: %w", err)
		}
		raw, err := strconv.Unquote(quoted)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s %s %q", attribute, quoted, m.NormaliseValue(attribute, raw)), nil
	})
	if cases < 1300 {
		t.Errorf("%d cases are too few", cases)
	}
}

type goldenPair struct {
	A     map[string]string `json:"a"` // several values are separated by " | "
	B     map[string]string `json:"b"`
	Bits  match.Weight      `json:"match_weight"`
	Lines []string          `json:"lines"`
}

func TestGolden_Weight(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	cases := golden(t, "weight.golden", func(line string) (string, error) {
		var p goldenPair
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return "", err
		}
		a, b := m.Normalise("s", "a", split(p.A)), m.Normalise("s", "b", split(p.B))
		v := m.Compare(a, b)
		e := m.Explain(a, b, v)
		p.Bits, p.Lines = e.Weight, []string{}
		for _, l := range e.Lines {
			p.Lines = append(p.Lines, fmt.Sprintf("%s %s: %s", l.Weight, l.Attribute, l.Level))
		}
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		err := enc.Encode(p)
		return strings.TrimRight(out.String(), "\n"), err
	})
	if cases < 700 {
		t.Errorf("%d cases are too few", cases)
	}
}

func split(side map[string]string) match.Attributes {
	a := match.Attributes{}
	for name, values := range side {
		a[name] = strings.Split(values, " | ")
	}
	return a
}

// A line of keys.golden is a record and the hashes of its blocking keys. The hashes are stored on disk, so
// this file only grows.
func TestGolden_KeyHashesAreFrozen(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	golden(t, "keys.golden", func(line string) (string, error) {
		var p struct {
			Record   map[string]string `json:"record"`
			Features []string          `json:"blocking_keys"`
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return "", err
		}
		r := m.Normalise("s", "k", split(p.Record))
		p.Features = []string{}
		for _, f := range r.BlockingKeys() {
			kind, text, ok := r.BlockingKey(f.Hash)
			if !ok || kind != f.Kind {
				return "", fmt.Errorf("blocking key %016x is not explained", f.Hash)
			}
			p.Features = append(p.Features, fmt.Sprintf("%016x %s: %s", f.Hash, kind, text))
		}
		out, err := json.Marshal(p)
		return string(out), err
	})
}
