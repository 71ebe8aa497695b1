// SPDX-License-Identifier: Apache-2.0

package mcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locus-db/locus/internal/mcp"
)

// Only allowed tools are listed or can be called, and the list is small, because every prompt contains it.
func TestTools_ListsWhatIsAllowed(t *testing.T) {
	t.Parallel()
	call := caller(t)
	reading := []string{"get", "match", "review_suggest", "search", "why"}
	for _, allow := range [][]string{nil, {mcp.Remember}, {mcp.Decide}, mcp.Writing} {
		s := connect(t, call, &mcp.Options{Agent: "bot", Allow: allow})
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if hints := tool.Annotations; hints.ReadOnlyHint == slices.Contains(mcp.Writing, tool.Name) || *hints.OpenWorldHint {
				t.Errorf("%s: %+v", tool.Name, hints)
			}
		}
		want := slices.Sorted(slices.Values(slices.Concat(reading, allow)))
		if !slices.Equal(names, want) {
			t.Errorf("tools %v, want %v", names, want)
		}
		if text, _ := json.Marshal(list); len(text) > 8<<10 {
			t.Errorf("the list of tools has %d bytes", len(text))
		}
		for _, name := range mcp.Writing {
			if slices.Contains(allow, name) {
				continue
			}
			if got, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: object{}}); err == nil {
				t.Errorf("%s is not allowed and returned %+v", name, got)
			}
		}
	}
	for _, o := range []*mcp.Options{{Allow: mcp.Writing}, {Agent: "a:b", Allow: mcp.Writing}, {Agent: "bot", Allow: []string{"erase"}}} {
		if _, err := mcp.New(t.Context(), call, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestTools_Read(t *testing.T) {
	t.Parallel()
	call := caller(t)
	put(
		t, call, "crm:1|Maria Gonzalez|maria@example.org||Oakland", "crm:2|Maria Gonzalez|maria@example.org||Oakland",
		"crm:3|Wei Zhang|wei@example.org||Fresno", "web:4|Wei Zhang|||Fresno",
	)
	s := connect(t, call, &mcp.Options{})
	if found := s.use("search", object{"text": "zhang", "limit": 1}); len(found.Entities) != 1 || found.Cursor == "" {
		t.Errorf("first page %s", found.raw)
	} else if next := s.use("search", object{"text": "zhang", "limit": 1, "cursor": found.Cursor}); len(next.Entities) != 1 || next.Cursor != "" || next.Entities[0] == found.Entities[0] {
		t.Errorf("second page %s", next.raw)
	}
	if found := s.use("search", object{"where": object{"emails": "MARIA@example.org"}}); len(found.Entities) != 1 {
		t.Errorf("by email %s", found.raw)
	}
	if got := s.use("get", object{"address": "crm:2"}); got.Records != 2 || got.Redirect != nil || len(got.Values) == 0 {
		t.Errorf("get %s", got.raw)
	}
	got := s.use("why", object{"a": "crm:1", "b": "crm:2"})
	sum := 0.0
	for _, e := range got.Evidence {
		sum += e.Weight
	}
	if !got.SameEntity || got.Weight < 5 || sum != got.Weight {
		t.Errorf("why: %v bits in evidence: %s", sum, got.raw)
	}
	pairs := s.use("review_suggest", object{}).Pairs
	if len(pairs) != 1 || pairs[0].A+" "+pairs[0].B != "crm:3 web:4" || len(pairs[0].For) == 0 ||
		len(pairs[0].Against) == 0 {
		t.Errorf("to review: %+v", pairs)
	}
	for tool, arguments := range map[string]object{
		"search": {}, "get": {"address": "crm:none"}, "why": {"a": "crm:1", "b": "nonsense"}, "match": {"probes": []object{}},
		"review_suggest": {"limit": 1000},
	} {
		if a := s.use(tool, arguments); a.Error == nil || a.Error.Code == "" || a.Error.Detail == "" {
			t.Errorf("%s %v: %s", tool, arguments, a.raw)
		}
	}
	if a := s.use("get", object{"address": "crm:1", "cursor": "1.x"}); a.Error == nil || a.Error.Code != "conflict" {
		t.Errorf("cursor of another state: %s", a.raw)
	}
	if a := s.use("review_suggest", object{"cursor": "x"}); a.Error == nil {
		t.Errorf("wrong cursor: %s", a.raw)
	}
}

func TestTools_MatchAdvises(t *testing.T) {
	t.Parallel()
	call := caller(t)
	put(t, call, "crm:1|Maria Gonzalez|maria@example.org||Oakland", "crm:3|Wei Zhang|wei@example.org||Fresno")
	id := connect(t, call, &mcp.Options{}).use("get", object{"address": "crm:1"}).ID
	for name, tc := range map[string]struct {
		attributes object
		kind       string
		want       string
	}{
		"the same": {object{"name": "Maria Gonzales", "emails": []string{"maria@example.org"}}, "person",
			"use matches " + id},
		"possibly":       {object{"name": "Wei Zhang", "city": "Fresno"}, "person", "ask possible_match "},
		"new":            {object{"name": "Zed Zebra", "emails": "zed@example.org"}, "person", "create new "},
		"too little":     {object{"city": "Fresno"}, "person", "ask no_blocking_key "},
		"no such kind":   {object{"name": "x"}, "rocket", "  "},
		"no such values": {object{"name": 7.5, "colour": "red"}, "person", "  "},
	} {
		for _, o := range []*mcp.Options{{}, all} {
			r := connect(t, call, o).use("match",
				object{"probes": []object{{"kind": tc.kind, "attributes": tc.attributes}}}).Results[0]
			if got := r.Advice + " " + r.Reason + " " + r.ID; got != tc.want || (tc.want == "  ") != (r.Error != nil) {
				t.Errorf("%s: %q, want %q: %+v", name, got, tc.want, r)
			}
			if strings.HasPrefix(tc.want, "use") && (len(r.Entities) != 1 || len(r.Entities[0].For) == 0) {
				t.Errorf("%s: no evidence: %+v", name, r)
			}
		}
	}
	s := connect(t, call, all)
	if a := s.use("match", object{"probes": slices.Repeat([]object{{"attributes": object{"name": "x"}}}, 21)}); a.Error == nil {
		t.Errorf("21 probes: %s", a.raw)
	}
	if a := s.use("search", object{"text": "zed"}); len(a.Entities) != 0 {
		t.Errorf("a match stored %s", a.raw)
	}
}

func TestTools_Remember(t *testing.T) {
	t.Parallel()
	s := connect(t, caller(t), all)
	maria := object{"kind": "person", "attributes": object{"name": "Maria Gonzalez", "emails": "maria@example.org"}}
	first := s.use("remember", maria)
	if first.Outcome != "created" || !strings.HasPrefix(first.Record, "agent.bot:") {
		t.Fatalf("remembered %s", first.raw)
	}
	list := object{"kind": "person",
		"attributes": object{"name": []string{"Maria Gonzalez"}, "emails": []string{"maria@example.org"}}}
	for _, again := range []object{maria, list} {
		if a := s.use("remember", again); a.Outcome != "unchanged" || a.Record != first.Record || a.Entity != first.Entity {
			t.Errorf("repeated: %s", a.raw)
		}
	}
	if r := s.use("match", object{"probes": []object{maria, list}}).Results; r[0].Reason != "stored" || r[1].Reason != "stored" || r[0].ID != first.Entity {
		t.Errorf("a match of it: %+v", r)
	}
	maria["key"] = "k"
	if a := s.use("remember", maria); a.Outcome != "matched" || a.Record != "agent.bot:k" || a.Entity != first.Entity {
		t.Errorf("under a key: %s", a.raw)
	}
	for _, wrong := range []object{
		{"kind": "rocket", "attributes": object{"name": "x"}},
		{"kind": "person", "attributes": object{"colour": "red"}},
		{"kind": "person", "key": strings.Repeat("k", 300), "attributes": object{"name": "x"}},
		{"attributes": object{"name": "x"}, "source": "crm"},
	} {
		got, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "remember", Arguments: wrong})
		if err == nil && !got.IsError {
			t.Errorf("%v was remembered", wrong)
		}
	}
}

// Decisions of other authors stay, whichever pair a decision names.
func TestTools_DecideNeverOverrules(t *testing.T) {
	t.Parallel()
	call := caller(t)
	var people []string
	for i := range 6 {
		people = append(people, fmt.Sprintf("crm:%d|Person%c Number%c|p%d@example.org", i, 'a'+i, 'q'+i, i))
	}
	put(t, call, people...)
	decides(t, call, false, [4]string{"same", "crm:0", "crm:1", "ann"}, [4]string{"same", "crm:1", "crm:2", "ann"},
		[4]string{"different", "crm:2", "crm:3", ""})
	s := connect(t, call, all)
	before := s.use("get", object{"address": "crm:0"}).ID
	for name, tc := range map[string]struct{ verdict, a, b, want string }{
		"the pair itself":            {"different", "crm:0", "crm:1", "decided"},
		"the pair itself, reversed":  {"same", "crm:3", "crm:2", "decided"},
		"a chain between them":       {"different", "crm:0", "crm:2", "decided"},
		"around the two":             {"same", "crm:3", "crm:0", "decided"},
		"an entity id":               {"same", "crm:3", before, "decided"},
		"no reason":                  {"same", "crm:4", "crm:5", "invalid"},
		"no verdict":                 {"alike", "crm:4", "crm:5", "invalid"},
		"one record":                 {"same", "crm:4", "crm:4", "invalid"},
		"a record that is not there": {"same", "crm:4", "crm:40", "not_found"},
	} {
		in := object{"verdict": tc.verdict, "a": tc.a, "b": tc.b, "reason": "looks so"}
		if name == "no reason" {
			in["reason"] = ""
		}
		if a := s.use("decide", in); a.Error == nil || a.Error.Code != tc.want {
			t.Errorf("%s: %s, want %s", name, a.raw, tc.want)
		}
	}
	if a := s.use("decide", object{"verdict": "same", "a": "crm:1", "b": "crm:0", "reason": "too"}); !a.Unchanged || a.Author != "ann" {
		t.Errorf("agreed: %s", a.raw)
	}
	merged := s.use("decide", object{"verdict": "same", "a": "crm:4", "b": "crm:5", "reason": "one inbox"})
	if merged.EntityA != merged.EntityB || merged.Author != "agent:bot" || merged.Overruled {
		t.Errorf("decided: %s", merged.raw)
	}
	if a := s.use("decide", object{"verdict": "different", "a": "crm:4", "b": "crm:5", "reason": "two inboxes"}); a.EntityA == a.EntityB {
		t.Errorf("its own decision: %s", a.raw)
	}
	decides(t, call, false, [4]string{"same", "crm:4", "crm:5", "ann"})
	if a := s.use("decide", object{"verdict": "different", "a": "crm:4", "b": "crm:5", "reason": "two inboxes"}); a.Error == nil {
		t.Errorf("over a person who replaced its decision: %s", a.raw)
	}
	if after := s.use("get", object{"address": "crm:2"}); after.ID != before || after.Records != 3 {
		t.Errorf("the entity of a person's decisions: %s", after.raw)
	}
}

func TestTools_GetExplainsARedirect(t *testing.T) {
	t.Parallel()
	call := caller(t)
	put(t, call, "crm:1|Maria Gonzalez|maria@example.org", "crm:2|Rosa Parker|rosa@example.org")
	s := connect(t, call, all)
	old := s.use("get", object{"address": "crm:2"}).ID
	s.use("decide", object{"verdict": "same", "a": "crm:1", "b": "crm:2", "reason": "maiden name"})
	got := s.use("get", object{"address": old})
	r := got.Redirect
	if got.ID == old || r == nil || r.From != old || r.Cause != "decision" || len(r.Decided) != 1 ||
		r.Decided[0].Author != "agent:bot" || r.Decided[0].Reason != "maiden name" {
		t.Errorf("a former id: %s", got.raw)
	}
	decides(t, call, true, [4]string{"same", "crm:1", "crm:2", "agent:bot"})
	if got := s.use("get", object{"address": old}); got.ID != old || got.Redirect != nil {
		t.Errorf("after the withdrawal: %s", got.raw)
	}
}
