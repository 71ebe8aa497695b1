// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// metered returns a data directory with two cells.
func metered(t *testing.T) map[string]string {
	t.Helper()
	env := map[string]string{"LOCUS_DATA": filepath.Join(t.TempDir(), "data")}
	if code, said := runUntil(t, env, "Ctrl-C", "demo", "--no-load", "--cells", "2", "--addr", "127.0.0.1:0", "--keep", env["LOCUS_DATA"]); code != 0 {
		t.Fatalf("make cells: exit code %d\n%s", code, said)
	}
	return env
}

// yesterday returns a day that still accepts hits, and a time of it.
func yesterday(clock string) (day, at string) {
	day = time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	return day, day + "T" + clock + "Z"
}

// A command that opens the data itself counts what it does, as a server does.
func TestMetric_CountsWhatACommandDoes(t *testing.T) {
	t.Parallel()
	env := map[string]string{"LOCUS_DATA": filepath.Join(t.TempDir(), "data")}
	must(t, env, "ingest", "--source", "crm", "--key", "id", write(t, "pubs.csv", "id,name\n1,Red Lion\n2,White Hart\n"))
	must(t, env, "metric", "hit", "page /about", "50")
	now := time.Now().UTC() // the hits may be of yesterday by now
	from, to := now.AddDate(0, 0, -1).Format(time.DateOnly), now.AddDate(0, 0, 1).Format(time.DateOnly)
	for metric, want := range map[string]int64{"locus.records": 2, "locus.created": 2, "locus.hits": 50} {
		got := must(t, env, "metric", "series", metric, "--from", from+"T00:00:00Z", "--to", to+"T00:00:00Z", "--step", "day", "--json")
		var series struct{ Lines []struct{ Total int64 } }
		if err := json.Unmarshal([]byte(got.stdout), &series); err != nil || len(series.Lines) != 1 || series.Lines[0].Total != want {
			t.Errorf("%s: want %d, %v\n%s", metric, want, err, got.stdout)
		}
	}
}

func TestMetric_HitAndSeries(t *testing.T) {
	t.Parallel()
	env := served(t)
	day, at := yesterday("12:07:31")
	for range 2 { // sent twice, counted once
		must(t, env, "metric", "hit", "page /a,b", "3", "--at", at, "--key", "once")
	}
	if got := must(t, env, "metric", "hit", "page /a,b", "3", "--at", at, "--key", "once"); got.err != "replayed   page /a,b\n" {
		t.Errorf("hit again: %q", got.err)
	}
	if got := run(t.Context(), env, "metric", "hit", "page /a,b", "4", "--at", at, "--key", "once"); got.code != 2 {
		t.Errorf("another hit with the key: %d %s", got.code, got.err)
	}
	must(t, env, "metric", "hit", "page /a,b", "--at", at)
	must(t, env, "metric", "hit", "temp", "--value", "-7", "--at", at)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"series", "page /a,b", "--day", day, "--step", "day"}, "time\tpage /a,b\n" + day + "\t4\n"},
		{
			[]string{"series", "temp", "page /a,b", "--from", day + "T12:07:00Z", "--to", day + "T12:08:00Z",
				"--step", "minute"},
			"time\ttemp min\ttemp max\ttemp sum\ttemp count\ttemp last\tpage /a,b\n" + day + "T12:07Z\t-7\t-7\t-7\t1\t-7\t4\n",
		},
		{
			[]string{"series", "--prefix", "page", "--from", day + "T12:00:00Z", "--to", day + "T13:00:00Z", "--step", "hour",
				"--format", "csv", "--zone", "Asia/Kathmandu"},
			"time,\"page /a,b\"\n" + day + "T17:00:00+05:45,4\n" + day + "T18:00:00+05:45,0\n",
		},
		{[]string{"top", "--day", day}, "metric\thits\npage /a,b\t4\n"},
		{[]string{"top", "--day", day, "--prefix", "x"}, "metric\thits\n"},
		{[]string{"list", "page"}, "metric\tkind\tsince\tcell\npage /a,b\tcounter\t" + day + "\tg0-"},
		{[]string{"list", "page", "--limit", "1"}, "metric\tkind\tsince\tcell\npage /a,b\tcounter\t" + day + "\tg0-"},
		{[]string{"series", "page /a,b", "--explain", "--at", at}, "table\trow\tplace\twhat\tnow\ncounter_hour\t"},
	} {
		got := must(t, env, append([]string{"metric"}, c.args...)...)
		if exact := strings.HasSuffix(c.want, "\n"); exact && got.stdout != c.want || !strings.HasPrefix(got.stdout, c.want) {
			t.Errorf("metric %v: %s\n%s", c.args, cmp.Diff(c.want, got.stdout), got.err)
		}
	}
	got := must(t, env, "metric", "series", "page /a,b", "--day", day, "--step", "minute", "--json")
	var series struct {
		Lines []struct {
			Metric string
			Values []*int64
			Total  int64
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &series); err != nil || len(series.Lines) != 1 || len(series.Lines[0].Values) != 1440 || *series.Lines[0].Values[727] != 4 || series.Lines[0].Total != 4 {
		t.Errorf("as JSON: %v %.300s", err, got.stdout)
	}
	if got := run(t.Context(), env, "metric", "series", "none"); got.code != 4 {
		t.Errorf("a metric that is not there: %d %s", got.code, got.err)
	}
	if got := must(t, env, "__complete", "metric", "series", "pa"); !strings.HasPrefix(got.stdout, "page /a,b\n") {
		t.Errorf("completion: %q", got.stdout)
	}
}

func TestMetric_Plot(t *testing.T) {
	t.Parallel()
	env := served(t)
	day, at := yesterday("12:00:00")
	must(t, env, "metric", "hit", "a", "5", "--at", at)
	must(t, env, "metric", "hit", "b", "--value", "9", "--at", at)
	got := must(t, env, "metric", "plot", "a", "b", "--day", day)
	if !strings.HasPrefix(got.stdout, "<svg ") || !strings.HasSuffix(got.stdout, "</svg>\n") ||
		!strings.Contains(got.stdout, ">12:00<") {
		t.Errorf("in a pipe:\n%.400s", got.stdout)
	}
	file := filepath.Join(t.TempDir(), "a.svg")
	light := got.stdout
	got = must(t, env, "metric", "plot", "a", "b", "--day", day, "--dark", "-o", file)
	picture, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(picture), "<svg ") || string(picture) == light ||
		!strings.HasPrefix(got.err, "wrote ") {
		t.Errorf("into a file: %v %.40q %s", err, picture, got.err)
	}
	if got := run(t.Context(), env, "metric", "plot", "a", "-o", "a.gif"); got.code != 2 || !strings.Contains(got.err, "ends in .svg") {
		t.Errorf("a gif: %d %s", got.code, got.err)
	}
}

// A file counts once, however often it is sent. Rejected rows are written to a file, and the rest counts.
func TestMetric_File(t *testing.T) {
	t.Parallel()
	env := metered(t)
	day, at := yesterday("12:00:00")
	var b strings.Builder
	b.WriteString("metric,at,n\n")
	for range 2500 {
		fmt.Fprintf(&b, "page /,%s,2\n", at)
	}
	fmt.Fprintf(&b, "page /,%s,zero\npage /,,1\npage /,2001-01-01T00:00:00Z,1\nlocus.x,%s,1\npage /,%s,0\n", at, at, at)
	file := write(t, "hits.csv", b.String())
	for _, want := range []string{"\t2505\t2500\t0\t5\t", "\t2505\t0\t2500\t5\t"} {
		got := run(t.Context(), env, "metric", "hit", "--file", file)
		if got.code != 3 || !strings.Contains(got.stdout, want) || !strings.Contains(got.err, "hits.csv.rejected.jsonl") {
			t.Errorf("%d, want %q:\n%s%s", got.code, want, got.stdout, got.err)
		}
	}
	if got := must(t, env, "metric", "series", "page /", "--day", day, "--step", "day"); !strings.HasSuffix(got.stdout, "\t5000\n") {
		t.Errorf("series: %s", got.stdout)
	}
	rejects, err := os.ReadFile(file + ".rejected.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for line := range strings.Lines(string(rejects)) {
		var r struct {
			Line          int
			Code, Pointer string
			Row           map[string]string
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Row["metric"] == "" {
			t.Errorf("%v in %s", err, line)
		}
		codes = append(codes, fmt.Sprint(r.Line, " ", r.Code, " ", r.Pointer))
	}
	want := []string{"2502 invalid /n", "2503 invalid /at", "2504 too_old ", "2505 invalid /metric", "2506 invalid /n"}
	for i := range codes {
		codes[i] = strings.Replace(codes[i], "too_old /at", "too_old ", 1)
	}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	lines := write(t, "hits.jsonl",
		fmt.Sprintf(`{"metric":"temp","at":%q,"value":21}`+"\n"+`{"metric":"page /","at":%q}`+"\n", at, at))
	if got := must(t, env, "metric", "hit", "--file", lines, "--json"); !strings.Contains(got.stdout, `"counts":{"counted":2,"refused":0}`) {
		t.Errorf("JSONL: %s", got.stdout)
	}
	if got := run(t.Context(), env, "metric", "hit", "--file", write(t, "other.csv", "name,at\nx,y\n")); got.code != 2 || !strings.Contains(got.err, "its columns are metric, at, and n or value") {
		t.Errorf("other columns: %d %s", got.code, got.err)
	}
}

func TestMetric_Usage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		says string
	}{
		{"hit", "NAME is missing"},
		{"hit a b c", "unexpected argument"},
		{"hit a x", "not a whole number"},
		{"hit a 1 --value 2", "--value for gauges; give one"},
		{"hit a --key k", "--key needs --at"},
		{"hit a --file f", "come from the rows"},
		{"hit a --format csv", "--format needs --file"},
		{"hit --file a --file b --key k", "is for one file"},
		{"series", "NAME is missing"},
		{"series a --prefix b", "exclude each other"},
		{"series a --day 2026-02-30", "is not a day"},
		{"series a --day 2026-02-20 --to 2026-02-21", "--day excludes"},
		{"series a --to 2026-02-21", "--to has no --from"},
		{"series a --zone Mars/Base", "unknown --zone"},
		{"series a --format xml", "unknown --format"},
		{"list a b", "unexpected argument"},
	} {
		got := run(t.Context(), nil, append([]string{"metric"},
			append(strings.Fields(c.args), "--data", filepath.Join(t.TempDir(), "none"))...)...)
		if got.code != 2 || !strings.Contains(got.err, c.says) {
			t.Errorf("metric %s: %d, want %q:\n%s", c.args, got.code, c.says, got.err)
		}
	}
	for flags, says := range map[string]string{
		"--retain-minutes 3d":                    "at least 8 days",
		"--retain-minutes 90d --retain-hours 9d": "at least as long",
		"--retain-minutes 90":                    "not a duration such as 90d",
		"--retain-metrics api.":                  "not a rule such as",
		"--retain-metrics api.=14d/7d":           "at least as long",
	} {
		got := run(t.Context(), nil, append([]string{"serve", "--data", filepath.Join(t.TempDir(), "none")},
			strings.Fields(flags)...)...)
		if got.code != 2 || !strings.Contains(got.err, says) {
			t.Errorf("serve %s: %d, want %q:\n%s", flags, got.code, says, got.err)
		}
	}
}
