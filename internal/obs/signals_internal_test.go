// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

var described = regexp.MustCompile(`fqName: "([^"]+)".*constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)

// families returns the labels of every metric that the collectors describe, by name: an idle scrape shows only some of
// them.
func families(t *testing.T, of []prometheus.Collector) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, c := range of {
		to := make(chan *prometheus.Desc, 1000)
		c.Describe(to)
		close(to)
		for d := range to {
			m := described.FindStringSubmatch(d.String())
			if m == nil {
				t.Fatalf("cannot read %v", d)
			}
			labels := strings.Split(m[3], ",")
			for constant := range strings.SplitSeq(m[2], ",") {
				name, _, _ := strings.Cut(constant, "=")
				labels = append(labels, name)
			}
			all[m[1]] = labels
		}
	}
	return all
}

// A number, a text, a name, or anything else.
var tokens = regexp.MustCompile(`"[^"]*"|[0-9][0-9a-z.]*|[a-zA-Z_:][a-zA-Z0-9_:]*|=~|!~|!=|==|\S`)

// words of PromQL, as far as the signals use it.
var words = []string{"and", "by", "changes", "count", "delta", "histogram_quantile", "increase", "max", "min",
	"min_over_time", "rate", "sum"}

// named returns the metrics and the labels of an expression. Labels stand in braces, and in parentheses after by.
func named(expr string) (metrics, labels []string) {
	list := tokens.FindAllString(expr, -1)
	inBraces, inBy := false, false
	for i, word := range list {
		switch {
		case word == "{":
			inBraces = true
		case word == "}":
			inBraces = false
		case word == "(" && i > 0 && list[i-1] == "by":
			inBy = true
		case word == ")":
			inBy = false
		case !regexp.MustCompile(`^[a-zA-Z_]`).MatchString(word):
		case inBraces || inBy:
			labels = append(labels, word)
		case !slices.Contains(words, word):
			metrics = append(metrics, word)
		}
	}
	return metrics, labels
}

// Every metric of the process is watched by a panel, and every name and label in a panel or an alert exists.
// deploy/verify checks the expressions with Prometheus' own parser.
func TestSignals_AreThoseOfTheMetrics(t *testing.T) {
	t.Parallel()
	m := NewMetrics()
	own := families(t, m.own)
	all := families(t, append(slices.Clone(m.own), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})))
	all["up"] = nil
	all["go_memstats_heap_inuse_bytes"] = nil
	scraped := []string{"job", "instance", "le"} // labels of a scrape, and of buckets
	seen := map[string]bool{}
	check := func(at, expr string) {
		if strings.Count(expr, "(") != strings.Count(expr, ")") {
			t.Errorf("%s: parentheses of %s", at, expr)
		}
		metrics, labels := named(expr)
		if len(metrics) == 0 {
			t.Errorf("%s: no metric in %s", at, expr)
		}
		known := slices.Clone(scraped)
		for _, name := range metrics {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if of := strings.TrimSuffix(name, suffix); all[of] != nil && all[name] == nil {
					name = of
				}
			}
			of, ok := all[name]
			if !ok {
				t.Errorf("%s: there is no metric %s", at, name)
			}
			seen[name], known = true, append(known, of...)
		}
		for _, label := range labels {
			if !slices.Contains(known, label) {
				t.Errorf("%s: %v have no label %s", at, metrics, label)
			}
		}
		for _, m := range regexp.MustCompile(`rate\((\w+)`).FindAllStringSubmatch(expr, -1) {
			if !regexp.MustCompile(`_(total|bucket|sum|count)$`).MatchString(m[1]) {
				t.Errorf("%s: rate of %s, which is no counter", at, m[1])
			}
		}
	}
	for _, s := range Signals {
		for _, q := range s.Queries {
			check(s.Title, q.Expr)
			for _, m := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(q.Legend, -1) {
				if _, labels := named(q.Expr); strings.Contains(q.Expr, " by ") && !slices.Contains(labels, m[1]) {
					t.Errorf("%s: the legend names %s, which %s does not keep", s.Title, m[1], q.Expr)
				}
			}
		}
		for _, a := range s.Alerts {
			check(a.Name, a.Expr)
		}
	}
	for name := range own {
		if !seen[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// Each alert has a section that describes what to do.
func TestSignals_HaveRunbooks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, s := range Signals {
		for _, a := range s.Alerts {
			if names[a.Name] {
				t.Errorf("two alerts are called %s", a.Name)
			}
			names[a.Name] = true
			if !strings.Contains(string(text), "\n#### "+a.Name+"\n\n") {
				t.Errorf("docs/operations.md has no section %s", a.Name)
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^#### (Locus\w+)$`).FindAllStringSubmatch(string(text), -1) {
		if !names[m[1]] {
			t.Errorf("docs/operations.md has a section about an alert %s, which does not exist", m[1])
		}
	}
}

// The files in deploy are made from the signals. UPDATE=1 writes them.
func TestSignals_Generated(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]byte{
		"../../deploy/grafana/locus.json": Dashboard(), "../../deploy/prometheus/alerts.yaml": Alerts(),
	} {
		if os.Getenv("UPDATE") == "1" {
			if err := os.WriteFile(path, want, 0o644); err != nil { //nolint:gosec // every user may read it
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Errorf("%s differs from the signals (%v): make generate", path, err)
		}
	}
}
