// SPDX-License-Identifier: Apache-2.0

package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/mcp"
)

// mentions are n lines for put about some people, with other spellings and with parts missing.
func mentions(n, people int) (lines []string) {
	random := rand.New(rand.NewPCG(1, 2))
	first := []string{"Robert", "Maria", "Wei", "Amara", "Jonas", "Priya", "Elena", "Tomas"}
	last := []string{"Tanner", "Gonzalez", "Zhang", "Okafor", "Lindqvist", "Raman", "Petrova", "Novak", "Haddad", "Moreau"}
	cities := []string{"Oakland", "Fresno", "San Jose"}
	for i := range n {
		p := random.IntN(people)
		family := last[p/len(first)%len(last)]
		if random.IntN(4) == 0 {
			family = family[:2] + family[3:]
		}
		email, phone := fmt.Sprintf("p%d@example.org", p), fmt.Sprintf("415-555-%04d", p)
		switch random.IntN(4) {
		case 0:
			email = ""
		case 1:
			phone = ""
		case 2:
			email, phone = "", ""
		}
		lines = append(lines, fmt.Sprintf("agent.bot:%d|%s %s|%s|%s|%s", i, first[p%len(first)], family, email, phone,
			cities[p%len(cities)]))
	}
	return lines
}

// grouped returns the keys of each entity, and the ids of the entities in the same order.
func grouped(t *testing.T, call mcp.Call, n int) (groups, ids []string) {
	t.Helper()
	keys := map[string][]string{}
	for i := range n {
		var r httpapi.Record
		if err := call(t.Context(), "GET", httpapi.RecordPath("agent.bot", fmt.Sprint(i)), nil, nil, &r); err != nil {
			t.Fatal(err)
		}
		id := r.Entity.String()
		if len(keys[id]) == 0 {
			ids = append(ids, id)
		}
		keys[id] = append(keys[id], r.Key)
	}
	for _, id := range ids {
		groups = append(groups, strings.Join(keys[id], " "))
	}
	return groups, ids
}

// An agent that asks and then stores ends with the entities of an import, and withdrawing its decisions gives every
// former id back.
func TestMentions_EqualAnImportAndAreTakenBack(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	const n, people = 160, 40
	lines := mentions(n, people)
	imported := caller(t)
	put(t, imported, lines...)
	call := caller(t)
	s := connect(t, call, all)
	advice := map[string]int{}
	for i, line := range lines {
		parts := strings.Split(line, "|")
		attributes := object{"name": parts[1], "city": parts[4]}
		for j, name := range map[int]string{2: "emails", 3: "phones"} {
			if parts[j] != "" {
				attributes[name] = parts[j]
			}
		}
		said := s.use("match", object{"probes": []object{{"kind": "person", "key": fmt.Sprint(i), "attributes": attributes}}}).Results[0]
		advice[said.Advice]++
		stored := s.use("remember", object{"kind": "person", "key": fmt.Sprint(i), "attributes": attributes})
		if created := stored.Outcome == "created"; created == (said.Advice == "use") || !created && stored.Entity != said.ID {
			t.Errorf("%s: the advice was %s %s, it is %s %s: %+v", line, said.Advice, said.ID, stored.Outcome,
				stored.Entity, said)
		}
	}
	want, _ := grouped(t, imported, n)
	got, before := grouped(t, call, n)
	if !slices.Equal(got, want) {
		t.Errorf("groups of the agent\n%q\nof the import\n%q", got, want)
	}
	for _, a := range []string{"use", "ask", "create"} {
		if advice[a] < 5 {
			t.Errorf("the advice was %v", advice)
		}
	}

	var made int
	for _, p := range s.use("review_suggest", object{"limit": 20}).Pairs {
		if s.use("decide", object{"verdict": "same", "a": p.A, "b": p.B, "reason": "looks so"}).Error == nil {
			made++
		}
	}
	if _, merged := grouped(t, call, n); made < 5 || len(merged) >= len(before) {
		t.Errorf("%d decisions, %d entities of %d", made, len(merged), len(before))
	}
	var list struct{ Decisions []decisions.Decided }
	if err := call(t.Context(), "GET", "/v1/decisions", nil, nil, &list); err != nil {
		t.Fatal(err)
	}
	for _, d := range list.Decisions {
		decides(t, call, true, [4]string{"same", d.A.String(), d.B.String(), d.Author})
	}
	if _, after := grouped(t, call, n); !slices.Equal(after, before) {
		t.Errorf("ids after the withdrawal\n%q\nbefore\n%q", after, before)
	}
}

// The end of the input waits for the responses, and nothing else is written.
func TestServe_AnswersWhatItRead(t *testing.T) {
	t.Parallel()
	call := caller(t)
	put(t, call, "crm:1|Maria Gonzalez|maria@example.org")
	server, err := mcp.New(t.Context(), call, &mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	for id := range 20 {
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get","arguments":{"address":"crm:1"}}}`+"\n", id+1)
	}
	for _, end := range []string{"", "\n", "no message\n", "no message"} {
		var out bytes.Buffer
		if err := server.Serve(t.Context(), strings.NewReader(in+end), &out); err != nil {
			t.Fatalf("%q at the end: %v", end, err)
		}
		answered := map[int]bool{}
		for d := json.NewDecoder(&out); ; {
			var m struct {
				JSONRPC string
				ID      *int
				Result  struct{ IsError bool }
				Error   any
			}
			if err := d.Decode(&m); err == io.EOF {
				break
			} else if err != nil || m.JSONRPC != "2.0" || (m.Error != nil) != (m.ID == nil) || m.Result.IsError {
				t.Fatalf("%+v: %v", m, err)
			}
			if m.ID != nil {
				answered[*m.ID] = true
			}
		}
		if len(answered) != 21 {
			t.Errorf("%d of 21 requests have a response", len(answered))
		}
	}
}
