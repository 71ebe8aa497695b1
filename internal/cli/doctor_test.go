// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestDoctor_Machine examines a correct directory, one that others may enter, and none.
func TestDoctor_Machine(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	done(t, "ingest", "--data", data, "--source", "s", "--key", "id", "--yes",
		write(t, "r.csv", "id,name\n1,Joes Pizza\n"))
	r := run(t.Context(), nil, "doctor", "--data", data)
	if !strings.Contains(r.stdout, "all answer; 1 record, 1 entity") ||
		!strings.Contains(r.stdout, "a durable write takes") || strings.Contains(r.stdout, "error ") {
		t.Errorf("a good one: %v", r)
	}
	if left, err := filepath.Glob(filepath.Join(data, ".doctor-*")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
	large := filepath.Join(data, "old.db-wal")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 256<<20+1); err != nil {
		t.Fatal(err)
	}
	if r := run(t.Context(), nil, "doctor", "--data", data); r.code != 3 || !strings.Contains(r.stdout, large+" has more than 268,435,456 bytes") {
		t.Errorf("a large log: %v", r)
	}
	if err := os.Remove(large); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(data, 0o755); err != nil {
			t.Fatal(err)
		}
		if r := run(t.Context(), nil, "doctor", "--data", data); r.code != 3 || !strings.Contains(r.stdout, "chmod 700 "+data) {
			t.Errorf("one that others may enter: %v", r)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	if r := run(t.Context(), nil, "doctor", "--data", none); r.code != 1 || !strings.Contains(r.stdout, "holds no data") {
		t.Errorf("none: %v", r)
	}
	if _, err := os.Stat(none); !os.IsNotExist(err) {
		t.Errorf("it makes the directory: %v", err)
	}
}

// TestDoctor_Installation examines the reports of servers.
func TestDoctor_Installation(t *testing.T) {
	t.Parallel()
	well := map[string]string{
		"/livez":               `{"status":"alive"}`,
		"/version":             `{"version":"devel"}`,
		"/v1/status":           `{"ready":true,"cells":[{"cell":"g0-0","writes":true,"bytes":5}],"counts":{}}`,
		"/v1/servers":          `{"servers":[]}`,
		"/v1/rollups":          `{"rollups":[{"name":"r","state":"following"}]}`,
		"/v1/sinks":            `{"sinks":[{"name":"k","state":"following"}]}`,
		"/v1/sources":          `{"sources":[{"source":"s","kinds":[{"kind":"place","records":10000}]}]}`,
		"/v1/kinds":            `{"kinds":[{"kind":"place","term_frequencies":"aa"}]}`,
		"/v1/term-frequencies": `{"term_frequencies":[{"hash":"aa","kind":"place","records":1001},{"hash":"bb"}]}`,
		"/v1/tokens":           `{"tokens":[{"name":"ci","id":"12345678"}]}`,
		"/v1/backup/mark":      fmt.Sprintf(`{"at":%q}`, time.Now().UTC().Format(time.RFC3339)),
	}
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for _, c := range []struct {
		path, answer string
		exit         int
		says         string
	}{
		{"/version", well["/version"], 0, "1 rollup, current"},
		{"/version", `{"version":"9.9.9"}`, 3, "the server is Locus 9.9.9"},
		{"/v1/status", `{"ready":true,"down":["g0-1"],"cells":[{"cell":"g0-1","down":true}],"counts":{}}`, 1,
			"1 of 1 are unavailable: g0-1"},
		{"/v1/status", `{"ready":true,"reason":"cell g0-1 takes no writes","cells":[{"cell":"g0-1"}],"counts":{}}`, 1,
			"cell g0-1 takes no writes"},
		{"/v1/status", `{"ready":false,"reason":"it starts","cells":[],"counts":{}}`, 1, "not ready: it starts"},
		{"/v1/status", `{"ready":true,"cells":[{"cell":"g0-1","writes":true,"puids":81,"puid_room":100}],"counts":{}}`, 3,
			"locus cell grow"},
		{"/v1/status", fmt.Sprintf(`{"ready":true,"until":%q,"cells":[],"counts":{}}`,
			time.Now().Add(5*time.Second).UTC().Format(time.RFC3339)), 1, "new records are refused"},
		{"/v1/status", `{"ready":true,"upgrade":"needed","cells":[],"counts":{}}`, 1, "locus upgrade plan"},
		{"/v1/status", `{"ready":true,"redo":10001,"cells":[],"counts":{}}`, 3, "10,001 records are not resolved yet"},
		{"/v1/servers", `{"servers":[{"server":"locus@db1:5432","trouble":"refused"}]}`, 1,
			"locus@db1:5432 cannot be reached: refused"},
		{"/v1/servers", `{"servers":[{"server":"locus@db1:5432","version":"15.1","connections":100,"budget":8,"archives":true}]}`, 0, "has no standby, but archives its log"},
		{"/v1/rollups", `{"rollups":[{"name":"r","state":"failed","trouble":"no room"}]}`, 1, "locus rollup rebuild r"},
		{"/v1/rollups", `{"rollups":[{"name":"r","state":"following","lag_ms":3600000}]}`, 3, "r is 1h0m0s behind"},
		{"/v1/sinks", `{"sinks":[{"name":"k","state":"failing","reason":"refused"}]}`, 1, "k is failing: refused"},
		{"/v1/sinks", `{"sinks":[{"name":"k","state":"following","dead":2}]}`, 3, "locus sink dead k"},
		{"/v1/sinks", `{"sinks":[{"name":"k","state":"waiting"}]}`, 3, "no process delivers to k"},
		{"/v1/sources", `{"sources":[{"source":"s","stream":{"state":"paused","reason":"offset gone"}}]}`, 1,
			"s is paused: offset gone"},
		{"/v1/sources", `{"sources":[{"source":"s","stream":{"state":"running","dead":1}}]}`, 3, "locus source dead s"},
		{"/v1/sources", `{"sources":[{"source":"s","kinds":[{"kind":"place","records":9000}]},{"source":"t","kinds":[{"kind":"place","records":2000}]}]}`, 3, "the names of 1,001 of 11,000 records"},
		{"/v1/kinds", `{"kinds":[{"kind":"place","term_frequencies":"bb"}]}`, 3, "locus terms build --kind place"},
		{"/v1/tokens", fmt.Sprintf(`{"tokens":[{"name":"ci","id":"12345678","expires":%q}]}`, soon), 3,
			"locus token rotate ci"},
		{"/v1/tokens", well["/v1/tokens"], 0, "ci (12345678) never ends"},
		{"/v1/backup/mark", `{"name":"pgbackrest","at":"2020-01-01T00:00:00Z"}`, 3, "the last one is of"},
		{"/v1/backup/mark", `{}`, 0, "none is known"},
		{"/v1/tokens", "403", 0, "1 rollup, current"},
		{"/v1/tokens", "500", 1, "installation"},
	} {
		t.Run(c.path+" "+c.says, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer, known := well[r.URL.Path]
				if r.URL.Path == c.path {
					answer = c.answer
				}
				switch {
				case !known:
					http.NotFound(w, r)
				case answer == "403" || answer == "500":
					code := map[string]string{"403": "forbidden", "500": "internal"}[answer]
					w.Header().Set("Content-Type", "application/problem+json")
					w.WriteHeader(map[string]int{"403": 403, "500": 500}[answer])
					fmt.Fprintf(w, `{"title":"no","status":%s,"code":%q,"outcome":"not_applied","detail":"no"}`, answer, code)
				default:
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, answer)
				}
			}))
			t.Cleanup(server.Close)
			if r := run(t.Context(), nil, "doctor", "--url", server.URL); r.code != c.exit || !strings.Contains(r.stdout, c.says) {
				t.Errorf("exit %d, want %d and %q:\n%s%s", r.code, c.exit, c.says, r.stdout, r.err)
			}
		})
	}
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if r := run(t.Context(), nil, "doctor", "--url", server.URL); r.code != 1 || strings.Count(r.stdout, "error ") != 1 {
		t.Errorf("without a server: %v", r)
	}
}
