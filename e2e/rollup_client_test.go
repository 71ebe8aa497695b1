// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
)

// The attributes that the rollups of these tests count.
const (
	byCategory = "kind: place\ngroup: category\ndimension: %s\nmeasures:\n  count: count\n  cities: {distinct: city}\n"
	bySource   = "kind: place\nover: records\ngroup: source\ndimension: outcome\n"
	byPostcode = "kind: place\ngroup: [city, source]\nwhere:\n  postcode: {exists: true}\nmeasures:\n  count: count\n" +
		"  sum: {sum: postcode}\n  least: {min: postcode}\n  most: {top: postcode, k: 2}\n"
)

// send sends a request that is answered at once.
func send(method, address, body string, out any) error {
	request, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/yaml")
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode/100 == 2 {
		response.StatusCode = http.StatusOK
	}
	return decode(response, out)
}

// define puts a rollup; rebuild rebuilds it.
func (n *node) define(name, text string) (r httpapi.Rollup, err error) {
	return r, send(http.MethodPut, n.url()+"/v1/rollups/"+name, text, &r)
}

func (n *node) rebuild(name string) (r httpapi.Rollup, err error) {
	return r, send(http.MethodPost, n.url()+"/v1/rollups/"+name+"/rebuild", "", &r)
}

func (n *node) groups(name string, query ...string) (a httpapi.RollupGroups, err error) {
	return a, n.get("/v1/rollups/"+name+"/groups", &a, append(query, "limit", "1000")...)
}

// verify recomputes a rollup, and returns the result and a line for each row that differs.
func (n *node) verify(name string) (v httpapi.RollupVerified, differences []string, err error) {
	response, err := client.Post(n.url()+"/v1/rollups/"+name+"/verify", "", nil)
	if err != nil {
		return v, nil, err
	}
	if response.StatusCode != http.StatusOK {
		return v, nil, decode(response, nil)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var line struct{ Type string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return v, nil, err
		}
		switch line.Type {
		case httpapi.LineVerified:
			var of struct{ Differs int }
			if err := json.Unmarshal(lines.Bytes(), &of); err != nil {
				return v, nil, err
			}
			if of.Differs > 0 {
				differences = append(differences, lines.Text())
			}
		case httpapi.LineError:
			p := &httpapi.Problem{}
			return v, nil, errors.Join(json.Unmarshal(lines.Bytes(), p), p)
		case httpapi.LineResult:
			return v, differences, json.Unmarshal(lines.Bytes(), &v)
		}
	}
	return v, nil, fmt.Errorf("verify %s: the answer was cut off", name)
}

// wantTrue checks that rollups equal their recomputation.
func (n *node) wantTrue(names ...string) {
	t := n.fleet.t
	t.Helper()
	for _, name := range names {
		n.ask(func() error {
			v, differences, err := n.verify(name)
			if err == nil && v.Differs > 0 {
				t.Errorf("process %d: rollup %s: %d of %d rows differ:\n%.4000s", n.index, name, v.Differs, v.Rows,
					strings.Join(differences, "\n"))
			}
			return err
		})
	}
}

// ask repeats do until it succeeds, while processes are killed and stopped.
func (n *node) ask(do func() error) {
	t := n.fleet.t
	t.Helper()
	eventually(t, 2*time.Minute, fmt.Sprintf("process %d does what it is asked for", n.index), func() (bool, string) {
		err := do()
		if err != nil && !troubled[codeOf(err)] {
			t.Fatalf("process %d: %v", n.index, err)
		}
		return err == nil, fmt.Sprint(err)
	})
}

// counts are numbers of things by group, and by group and dimension value.
type counts map[string]int64

func (c counts) add(group, dimension string) {
	c["["+group+"]"]++
	c["["+group+"] "+dimension]++
}

// counted returns the counts in an answer.
func counted(t *testing.T, a httpapi.RollupGroups) counts {
	t.Helper()
	c := counts{}
	number := func(m httpapi.Measures) int64 {
		n, err := strconv.ParseInt(string(m["count"]), 10, 64)
		if err != nil {
			t.Errorf("rollup %s: a count is %q", a.Rollup, m["count"])
		}
		return n
	}
	for _, g := range a.Groups {
		name := "[" + strings.Join(g.Group, " ") + "]"
		c[name] = number(g.Total)
		for _, slot := range g.By {
			value := ""
			if slot.Value != nil {
				value = *slot.Value
			}
			c[name+" "+value] = number(slot.Values)
		}
	}
	return c
}

// recounted computes the counts of both rollups, by category and dimension and by source, from the lists of all
// entities and records.
func recounted(base, dimension string) (categories, sources counts, err error) {
	entities, err := allEntities(base)
	if err != nil {
		return nil, nil, err
	}
	records, err := allRecords(base)
	if err != nil {
		return nil, nil, err
	}
	categories, sources = counts{}, counts{}
	for _, e := range entities {
		under := ""
		for _, a := range e.View {
			if a.Name == dimension {
				under = *a.Value
			}
		}
		for _, a := range e.View {
			for _, v := range a.Values {
				if a.Name == "category" {
					categories.add(v.Value, under)
				}
			}
		}
		for i, m := range e.Members {
			if records[m.Ref].PUID != m.PUID {
				return nil, nil, fmt.Errorf("entity %s has the member %v, which is no record", e.ID, m)
			}
			outcome := "created"
			if i > 0 {
				outcome = "matched"
			}
			sources.add(m.Source, outcome)
			delete(records, m.Ref)
		}
	}
	for ref := range records {
		return nil, nil, fmt.Errorf("record %v is in no entity", ref)
	}
	return categories, sources, nil
}

// compare checks that both rollups agree with the lists of entities and records. Nothing may change during the
// comparison; the watermarks prove that.
func (n *node) compare() {
	t := n.fleet.t
	t.Helper()
	eventually(t, time.Minute, fmt.Sprintf("process %d reads while nothing changes", n.index), func() (bool, string) {
		before, err := n.groups("by_category", "latest", "true")
		if err != nil {
			return false, err.Error()
		}
		categories, sources, err := recounted(n.url(), before.Definition.Dimension)
		if err != nil {
			return false, err.Error()
		}
		after, err := n.groups("by_source", "latest", "true")
		if err != nil {
			return false, err.Error()
		}
		if before.Watermark.String() != after.Watermark.String() {
			return false, fmt.Sprintf("the logs went from %v to %v", before.Watermark, after.Watermark)
		}
		if diff := cmp.Diff(categories, counted(t, before)); diff != "" {
			t.Errorf("process %d: by category (-lists +rollup):\n%s", n.index, diff)
		}
		if diff := cmp.Diff(sources, counted(t, after)); diff != "" {
			t.Errorf("process %d: by source (-lists +rollup):\n%s", n.index, diff)
		}
		return true, ""
	})
}

func (n *node) remove(ref entity.Ref) (d httpapi.Deleted, err error) {
	return d, send(http.MethodDelete, n.url()+httpapi.RecordPath(ref.Source, ref.Key), "", &d)
}

func (n *node) source(name string, query url.Values) (g httpapi.RollupOne, err error) {
	return g, get(n.url(), httpapi.GroupPath("by_source", []string{name}), query, &g)
}
