// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/audits"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/tokens"
)

// auditCopy is the file with the entries for a collector.
const auditCopy = "audit.jsonl"

// setupAudited is setup with an audit log that has every class.
func setupAudited(t *testing.T, dir string) *fixture {
	t.Helper()
	out, err := os.OpenFile(filepath.Join(dir, auditCopy), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	svc, err := locus.Open(t.Context(), dir, &locus.Options{
		Storage: storage.Options{Cells: 2}, Audit: &audits.Options{Also: []audit.Class{audit.Write, audit.Read}, Copy: out},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close() })
	return &fixture{t, svc, httpapi.New(svc, nil)}
}

// bodies returns the entries of the log as they are stored, the oldest first.
func (f *fixture) bodies() (all []string) {
	f.Helper()
	if err := f.svc.Audit().Each(context.Background(), func(r audit.Row) error { all = append(all, r.Body); return nil }); err != nil {
		f.Fatal(err)
	}
	return all
}

// begun returns the entries "begun" of an action.
func (f *fixture) begun(action string) (found []audit.Entry) {
	f.Helper()
	for _, body := range f.bodies() {
		var e audit.Entry
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			f.Fatal(err)
		}
		if e.Phase == audit.Begun && e.Action == action {
			found = append(found, e)
		}
	}
	return found
}

// TestP10_EveryChangeIsInTheAuditLog calls every route of the reviewed table that is not a GET, and looks for its entry
// and its class.
func TestP10_EveryChangeIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	f := setupAudited(t, t.TempDir())
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	text, err := os.ReadFile(filepath.Join("testdata", "permissions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	classes := map[string]audit.Class{
		"access": audit.Access, "audit": audit.Access, "decide": audit.Decision, "define": audit.Admin,
		"operate": audit.Admin, "erase": audit.Admin,
		"any permission": audit.Access, "write": audit.Write, "count": audit.Write, "write or erase": audit.Write,
		"read":           audit.Read,
		"read and write": audit.Write, "schema and read and define": audit.Admin, "read and define": audit.Admin,
	}
	elsewhere := map[string]audit.Class{"POST /v1/cells/plan": audit.Read, "POST /v1/kinds/{kind}/diff": audit.Read,
		"POST /data/preview": audit.Read}
	n := 0
	for line := range strings.Lines(string(text)) {
		pattern, rule, _ := strings.Cut(line, "  ")
		method, path, found := strings.Cut(pattern, " ")
		if rule, _, _ = strings.Cut(strings.TrimSpace(rule), ", "); !found || method == http.MethodGet || rule == "public" {
			continue
		}
		n++
		headers := append([]string{"Request-Timeout", "5"}, root...)
		body := `{}`
		if !strings.HasPrefix(path, "/v1/") && path != "/mcp" {
			media := "application/x-www-form-urlencoded"
			if strings.HasPrefix(path, "/data/") {
				media = "application/octet-stream"
			}
			headers, body = append(headers, "Sec-Fetch-Site", "same-origin", "Content-Type", "", "Content-Type",
				media), "author=x"
		} else if method == http.MethodPut {
			headers = append(headers, "Content-Type", "application/json")
		}
		f.do(method, regexp.MustCompile(`\{\w+(\.\.\.)?\}`).ReplaceAllString(path, "x"), body, headers...)
		want, special := elsewhere[pattern]
		if !special {
			want = classes[rule]
		}
		switch got := f.begun(pattern); {
		case len(got) != 1:
			t.Errorf("%s: %d entries", pattern, len(got))
		case got[0].Class != want || want == "":
			t.Errorf("%s is of class %s, want %q because of %s", pattern, got[0].Class, want, rule)
		case got[0].Principal != "root" || got[0].Credential == "" || got[0].Address == "" || got[0].RequestID == "":
			t.Errorf("%s: %+v", pattern, got[0])
		}
	}
	if n < 40 {
		t.Errorf("%d routes", n)
	}
}

// An entry is there before the effect: while the log cannot be written, nothing changes.
func TestP10_NoEntryNoEffect(t *testing.T) {
	t.Parallel()
	longtest.Slow(t) // the writer of the log has five seconds
	dir := t.TempDir()
	svc := openService(t, dir, 0)
	defer svc.Close()
	f := &fixture{t, svc, httpapi.New(svc, nil)}
	f.put([4]string{"a", "1", "Joes Pizza", ""}, [4]string{"a", "2", "Annas Bakery", ""})
	var other string // the address of a record in the cell that is not the authority
	m := svc.Cells().Map()
	for i := 0; other == ""; i++ {
		if m.Home(m.KeyOf("b", fmt.Sprint(i)).Position()) != m.Authority() {
			other = fmt.Sprint(i)
		}
	}
	f.put([4]string{"b", other, "Zephyr Trampolines", ""})
	f.do(http.MethodDelete, "/v1/records/a/2?erase=true", "") // makes the secret of the hashes

	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "cells",
		m.Authority().String()+".db")+"?_pragma=busy_timeout(30000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	f.do(http.MethodDelete, "/v1/records/b/"+other+"?erase=true", "").refused(http.StatusServiceUnavailable,
		httpapi.CodeUnavailable)
	if a := f.get("/v1/records/b/" + other); a.Code != http.StatusOK {
		t.Errorf("the record is erased without an entry: %d %s", a.Code, a.Body)
	}
	// A class that is not stored needs no log.
	if a := f.do(http.MethodDelete, "/v1/records/b/"+other, ""); a.Code != http.StatusOK {
		t.Errorf("a deletion, which is not stored: %d %s", a.Code, a.Body)
	}
	if _, err := db.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}

// TestP14_TheAuditLogKeepsNothingOfARecord handles records whose every text is a marker, by every way that names them,
// and looks for the markers.
func TestP14_TheAuditLogKeepsNothingOfARecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := setupAudited(t, dir)
	const name, phone, key = "Zephyrine Marker", "415-555-2398", "marker-key-1"
	results := f.put([4]string{"crm", key, name, phone}, [4]string{"crm", "marker-key-2", name, ""})
	id := results[0].Entity.String()
	for _, target := range []string{
		"/v1/records/crm/" + key, "/v1/entities?q=Zephyrine", "/v1/entities?filter=phones:" + phone, "/v1/entities/" + id,
		"/entities/" + id,
		"/entities?q=Zephyrine", "/v1/decisions?of=crm:" + key, "/v1/records?source=crm",
	} {
		f.get(target)
	}
	f.do(http.MethodPost, "/v1/match", `{"probes":[{"attributes":{"name":"`+name+`"}}]}`)
	f.do(http.MethodPost, "/v1/decisions",
		`{"decisions":[{"verdict":"different","a":"crm:`+key+`","b":"crm:marker-key-2","author":"ann","reason":"`+name+`"}]}`)
	f.do(http.MethodPost, "/v1/decisions",
		`{"decisions":[{"verdict":"value","a":"crm:`+key+`","attribute":"name","value":"`+name+`","author":"ann"}]}`)
	f.do(http.MethodPost, "/v1/decisions", `{"decisions":[{"verdict":"same","a":"crm:`+key+`","b":"nonsense `+name+`"}]}`)
	if a := f.do(http.MethodDelete, "/v1/records/crm/"+key+"?erase=true", ""); a.Code != http.StatusOK {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	// The list is an action too, so the earlier ones are stored when it begins.
	list := decode[httpapi.AuditList](f.get("/v1/audit?record=crm:" + key + "&class=admin"))
	if len(list.Entries) == 0 || list.Entries[0].Action != "DELETE /v1/records/{source}/{key...}" ||
		list.Entries[0].Outcome != "ok" {
		t.Errorf("the erasure is not found by the key: %+v", list.Entries)
	}
	all := strings.Join(f.bodies(), "\n")
	// Four digits would be found by chance in the hashes of a chain.
	for _, marker := range []string{"Zephyrine", "zephyrine", "marker", "Marker", "5552398", "555-2398"} {
		if at := strings.Index(all, marker); at >= 0 {
			t.Errorf("%q is in the log: ...%s...", marker, all[max(0, at-200):min(len(all), at+200)])
		}
	}
	if len(f.bodies()) < 20 {
		t.Errorf("the log has %d entries", len(f.bodies()))
	}

	// After the rest of the records is erased and the files are vacuumed, no file contains a marker, neither the log
	// nor the copy for a collector.
	if a := f.do(http.MethodDelete, "/v1/records/crm/marker-key-2?erase=true", ""); a.Code != http.StatusOK {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	if a := f.do(http.MethodPost, "/v1/vacuum", ""); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `"type":"result"`) {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	if err := f.svc.Close(); err != nil {
		t.Fatal(err)
	}
	files, size := 0, 0
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files, size = files+1, size+len(content)
		for _, marker := range []string{"zephyrine", "marker", "5552398", "555-2398"} {
			if strings.Contains(strings.ToLower(string(content)), marker) {
				t.Errorf("%q is in %s", marker, filepath.Base(path))
			}
		}
		return err
	}); err != nil || files < 4 || size < 10_000 {
		t.Errorf("%d files, %d bytes: %v", files, size, err)
	}
	if copied, err := os.ReadFile(filepath.Join(dir, auditCopy)); err != nil || !strings.Contains(string(copied), "DELETE /v1/records") {
		t.Errorf("the copy has no erasure: %v", err)
	}
}

// The list has pages and filters; the export verifies; entries altered without the server are found.
func TestP10_AuditAltered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := setupAudited(t, dir)
	for i := range 5 {
		f.do(http.MethodPut, fmt.Sprintf("/v1/kinds/k%d", i), `{}`, "Content-Type", "application/json")
		f.get("/v1/kinds")
	}
	var paged []audit.Entry
	for target := "/v1/audit?class=admin&limit=3"; ; {
		page := decode[httpapi.AuditList](f.get(target))
		if paged = append(paged, page.Entries...); page.Cursor == "" {
			break
		}
		target = "/v1/audit?class=admin&limit=3&cursor=" + page.Cursor
	}
	if len(paged) < 6 || slices.ContainsFunc(paged, func(e audit.Entry) bool { return e.Class != audit.Admin }) {
		t.Errorf("%d entries of class admin: %+v", len(paged), paged)
	}
	f.get("/v1/audit?class=nonsense").refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	f.get("/v1/audit?record=nonsense").refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	f.do(http.MethodPost, "/v1/audit/verify", `{"heads":[7]}`).refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)

	exported := f.get("/v1/audit/export")
	if ct := exported.Header().Get("Content-Type"); exported.Code != http.StatusOK || ct != "application/jsonl" || strings.Count(exported.Body.String(), "\n") < 10 {
		t.Errorf("%d %s: %s", exported.Code, ct, exported.Body)
	}
	report := decode[audit.Report](f.do(http.MethodPost, "/v1/audit/verify", `{}`))
	heads, err := json.Marshal(httpapi.VerifyAuditRequest{Heads: report.Heads})
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	rewritten := slices.Clone(report.Heads)
	rewritten[0].Hash = strings.Repeat("0", len(rewritten[0].Hash))
	other, err := json.Marshal(httpapi.VerifyAuditRequest{Heads: rewritten})
	if err != nil {
		t.Fatal(err)
	}
	if r := f.do(http.MethodPost, "/v1/audit/verify", string(other)).Body.String(); !strings.Contains(r, "kept elsewhere") {
		t.Errorf("a log that is not the one of a head: %s", r)
	}

	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "cells",
		f.svc.Cells().Map().Authority().String()+".db")+"?_pragma=busy_timeout(30000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "DELETE FROM audit WHERE seq = 2"); err == nil {
		t.Error("the database removes an entry")
	}
	for _, sql := range []string{
		"DROP TRIGGER audit_keep_all; DROP TRIGGER audit_keep_old; DROP TRIGGER audit_keep_new",
		"UPDATE audit SET body = replace(body, 'k1', 'k9') WHERE body LIKE '%k1%'",
		"DELETE FROM audit WHERE seq = 4",
	} {
		if _, err := db.ExecContext(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	altered := decode[audit.Report](f.do(http.MethodPost, "/v1/audit/verify", string(heads)))
	if len(altered.Problems) < 2 {
		t.Errorf("problems: %+v", altered.Problems)
	}
	if _, err := db.ExecContext(t.Context(), "DELETE FROM audit"); err != nil {
		t.Fatal(err)
	}
	if cut := decode[audit.Report](f.do(http.MethodPost, "/v1/audit/verify", string(heads))); len(cut.Problems) == 0 {
		t.Error("a log that was emptied contains the heads of before")
	}
}

// TestAudit_OfARecord lists the entries about one record: entries with its key, and decisions, which have the puids of
// both records.
func TestAudit_OfARecord(t *testing.T) {
	t.Parallel()
	f := setupAudited(t, t.TempDir())
	f.put([4]string{"a", "1", "Joes Pizza", ""}, [4]string{"a", "2", "Annas Bakery", ""},
		[4]string{"a", "3", "Bobs Bar", ""})
	decode[httpapi.DecideResponse](f.do("POST", "/v1/decisions",
		`{"decisions":[{"verdict":"different","a":"a:1","b":"a:2"}]}`))
	f.get("/v1/records/a/1")
	for record, want := range map[string][]string{
		"a:1": {"GET /v1/records/{source}/{key...}", "POST /v1/decisions"}, "a:2": {"POST /v1/decisions"},
		"a:3": nil, "a:4": nil,
	} {
		var got []string
		for _, e := range decode[httpapi.AuditList](f.get("/v1/audit?record=" + record)).Entries {
			if e.Phase == audit.Ended {
				got = append(got, e.Action)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", record, got, want)
		}
	}
	token := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	decode[tokens.Block](f.do("PUT", "/v1/blocks/jwt:repo:crm", "", token...))
	if e := f.begun("PUT /v1/blocks/{principal}"); len(e) != 1 || !slices.Equal(e[0].Targets, []string{"principal=jwt:repo:crm"}) {
		t.Errorf("%+v", e)
	}
}
