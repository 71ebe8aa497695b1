// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// uncertain returns an installation with two pairs to decide, one of which contains a secret.
func uncertain(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "shops.csv")
	text := "key,name,address,city,phones\n" +
		"oak,Brass Heron Antiques,12 Oak Ave,Springfield,212-555-0101\nmill,Brass Heron Antiques,99 Mill Lane,Springfield,646-555-7878\n" +
		"pine,Gilded Otter Books,1 Pine St,Springfield,212-555-0999\nbirch,Gilded Otter Books,7 Birch Rd,Springfield,646-555-7111\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t.Context(), nil, "ingest", "--data", filepath.Join(dir, "data"), "--source", "crm", file); r.code != 0 {
		t.Fatal(r.err)
	}
	return filepath.Join(dir, "data")
}

// TestJudge asks a model that finds every pair different, within the budget, and withdraws all of its decisions
// together. The withheld attribute and the keys are not sent, and the decisions do not count as decisions of people.
func TestJudge(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	data := uncertain(t)
	var asked atomic.Int32
	var sent atomic.Value
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked.Add(1)
		sent.Store(string(body))
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": `{"answer":"different","reason":"two streets"}`}}}})
	}))
	t.Cleanup(model.Close)
	judge := func(more ...string) result {
		return run(t.Context(), nil, append([]string{"judge", "--data", data, "--model-url", model.URL, "--model", "m", "--withhold", "phones"}, more...)...)
	}
	if r := judge("--dry-run"); r.code != 0 || asked.Load() != 0 || strings.Count(r.stdout, "\n") != 2 || strings.Contains(r.stdout, "555") {
		t.Fatalf("%+v", r)
	}
	if r := judge("--budget", "1"); r.code != 0 || asked.Load() != 1 || !strings.Contains(r.err, "asked about 1 pair: 0 same, 1 different") || !strings.Contains(r.stdout, "two streets") {
		t.Fatalf("%d asked, %+v", asked.Load(), r)
	}
	if text, _ := sent.Load().(string); strings.Contains(text, "555") || strings.Contains(text, "crm") || !strings.Contains(text, "Springfield") {
		t.Errorf("sent %s", text)
	}
	if r := judge(); r.code != 0 || asked.Load() != 2 {
		t.Fatalf("%d asked, %+v", asked.Load(), r)
	}
	list := func() string { return run(t.Context(), nil, "decision", "list", "--data", data).stdout }
	if text := list(); strings.Count(text, "agent:judge") != 2 {
		t.Fatalf("%s", text)
	}
	if r := run(t.Context(), nil, "quality", "--data", data, "--json"); r.code != 0 || !strings.Contains(r.stdout, `"decided":0`) || !strings.Contains(r.stdout, `"pairs":2`) {
		t.Errorf("%+v", r)
	}
	if r := run(t.Context(), nil, "review", "list", "--data", data, "--order", "chance"); r.code != 0 || !strings.Contains(r.stdout, "crm:oak") {
		t.Errorf("people are not asked: %+v", r)
	}
	if r := run(t.Context(), nil, "decision", "withdraw", "--data", data, "--author", "agent:judge", "--yes"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if text := list(); strings.Contains(text, "agent:judge") {
		t.Errorf("%s", text)
	}
	// The decision of a person counts.
	if r := run(t.Context(), nil, "review", "answer", "crm:oak", "crm:mill", "--same", "--author", "ann", "--data", data); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if r := run(t.Context(), nil, "quality", "--data", data); r.code != 0 || !strings.Contains(r.err, "place: precision") || !strings.Contains(r.stdout, "two entities") {
		t.Errorf("%+v", r)
	}
}

// TestJudge_AsksAboutEveryPair asks about more pairs than a page has, which are decided between one page and the next.
func TestJudge_AsksAboutEveryPair(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const shops = 50
	text := "key,name,address,city,phones\n"
	for i := range shops {
		name := strings.Fields("Amber Brass Copper Dusty Ebony Frosty Gilded Hollow Ivory Jolly")[i%10] + " " + strings.Fields("Heron Otter Badger Falcon Lynx")[i/10]
		text += fmt.Sprintf("oak%d,%s Antiques,%d Oak Ave,Springfield,212-555-%d\nmill%d,%s Antiques,%d Mill Lane,Springfield,646-555-%d\n", i, name, i+1, 1000+i, i, name, i+200, 2000+i)
	}
	file, data := filepath.Join(dir, "shops.csv"), filepath.Join(dir, "data")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t.Context(), nil, "ingest", "--data", data, "--source", "crm", file); r.code != 0 {
		t.Fatal(r.err)
	}
	var asked atomic.Int32
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		verdict := []string{"different", "unsure"}[asked.Add(1)%2]
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": `{"answer":"` + verdict + `"}`}}}})
	}))
	t.Cleanup(model.Close)
	if r := run(t.Context(), nil, "judge", "--data", data, "--model-url", model.URL, "--model", "m"); r.code != 0 || asked.Load() != shops || !strings.Contains(r.err, "asked about 50 pairs: 0 same, 25 different, 25 unsure") {
		t.Errorf("%d asked, %+v", asked.Load(), r.err)
	}
}

func TestJudge_Refuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{}, {"--model", "m"}, {"--model-url", "http://localhost:1"},
		{"x", "--model-url", "http://localhost:1", "--model", "m"}, {"x", "--budget", "0"}, {"x", "--wait", "0s"},
	} {
		if r := run(t.Context(), nil, append([]string{"judge"}, args...)...); r.code != 2 {
			t.Errorf("%q: %+v", args, r)
		}
	}
}
