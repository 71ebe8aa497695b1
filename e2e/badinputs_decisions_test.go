// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/locus-db/locus/internal/httpapi"
)

// tryDecision tries what people decide, in ways that contradict each other or make no sense. It reports whether the
// entry is about that.
func tryDecision(t *trial, e *badInput) bool {
	switch e.ID {
	case "P11":
		a, b := t.twin(e.ID, "a", true), t.twin(e.ID, "b", true)
		if t.entityOf(a) != t.entityOf(b) {
			t.Fatal("not joined")
		}
		t.decide("different", a, b).is(t, "unmerge", http.StatusOK)
		t.twin(e.ID, "a", true)
		t.twin(e.ID, "b", true)
		if t.entityOf(a) == t.entityOf(b) {
			t.Errorf("the records are joined again")
		}
	case "P12":
		a, b := t.twin(e.ID, "a", false), t.twin(e.ID, "b", false)
		ids := []string{t.entityOf(a), t.entityOf(b)}
		var wg sync.WaitGroup
		for i := range 50 { // a newer decision overrides an older one, where the list would refuse it
			wg.Go(func() { t.decide([]string{"same", "different"}[i%2], a, b).is(t, "contradict", http.StatusOK) })
		}
		wg.Wait()
		for i := range 50 {
			wg.Go(func() {
				x := []string{a, b}
				t.decide("same", x[i%2], x[1-i%2]).check(t, e)
			})
		}
		wg.Wait()
		for _, id := range ids {
			if got := t.entityOf(id); got != t.entityOf(a) || got != t.entityOf(b) {
				t.Errorf("%s leads to %s, the records are in %s and %s", id, got, t.entityOf(a), t.entityOf(b))
			}
		}
	case "P17":
		a := t.twin(e.ID, "a", false)
		for _, other := range []string{a, t.entityOf(a)} { // inside a batch the other decisions are taken
			v := t.decide("same", a, other)
			var answer httpapi.DecideResponse
			if err := json.Unmarshal(v.body, &answer); err != nil || len(answer.Results) != 1 || answer.Results[0].Error == nil {
				t.Errorf("%s with itself: %d %s", a, v.status, v.body)
			}
		}
	case "P19":
		var survivors []string
		for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			name := fmt.Sprintf("%s-%d%d%d", e.ID, order[0], order[1], order[2])
			refs := []string{t.twin(name, "a", false), t.twin(name, "b", false), t.twin(name, "c", false)}
			var ids []string
			for _, ref := range refs {
				ids = append(ids, t.entityOf(ref))
			}
			for _, i := range order {
				t.decide("same", refs[i], refs[(i+1)%3]).check(t, e)
			}
			survivor := t.entityOf(refs[0])
			for i, id := range ids {
				if got := t.entityOf(id); got != survivor {
					t.Errorf("in the order %v the id of record %d leads to %s, not to %s", order, i, got, survivor)
				}
				if id == survivor {
					survivors = append(survivors, refs[i][len(name):])
				}
			}
		}
		for _, s := range survivors {
			if len(survivors) != 6 || s != survivors[0] {
				t.Errorf("the survivors of the six orders are %v", survivors)
				break
			}
		}
	default:
		return false
	}
	return true
}

// twin puts a record that is like the other twins of a name, or unlike them, and returns its address.
func (t *trial) twin(name, key string, alike bool) string {
	t.Helper()
	title, street := "Axolotl Carpentry", "9 Tarn Street"
	if !alike {
		title, street = map[string]string{"a": "Quokka Umbrellas", "b": "Numbat Violins", "c": "Dugong Ladders"}[key], key+" Moor Lane"
	}
	source := strings.ToLower(name)
	t.post(batchOf(quoted([]byte(source)), quoted([]byte(key)),
		`"name":"`+title+` `+name+`","address":"`+street+`","city":"`+name+`"`)).is(t, "put", http.StatusOK)
	return source + ":" + key
}

func (t *trial) decide(verdict, a, b string) verdict {
	t.Helper()
	body := fmt.Sprintf(`{"decisions":[{"verdict":%q,"a":%q,"b":%q}]}`, verdict, a, b)
	return t.send(http.MethodPost, "/v1/decisions", strings.NewReader(body))
}

// entityOf returns the id of the entity that an address leads to.
func (t *trial) entityOf(address string) string {
	t.Helper()
	v := t.send(http.MethodGet, "/v1/find?address="+url.QueryEscape(address), nil)
	v.is(t, "find", http.StatusOK)
	return field(v.body, "id")
}
