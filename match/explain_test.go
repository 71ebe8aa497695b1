// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"encoding/json"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
)

// The JSON of an explanation is part of the interface of server and command line.
func TestExplain_JSON(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	a, b := pizza(m)
	got, err := json.MarshalIndent(m.Explain(b, a, m.Compare(a, b)), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "a": {
  "source": "1",
  "key": "a"
 },
 "b": {
  "source": "2",
  "key": "b"
 },
 "outcome": "same",
 "match_weight": 19.7,
 "lines": [
  {
   "attribute": "name",
   "level": "mostly alike",
   "match_weight": 4.5,
   "a": [
    "Joes Pizza"
   ],
   "b": [
    "Joe's"
   ]
  },
  {
   "attribute": "name residual",
   "level": "one keeps a word",
   "match_weight": -0.3,
   "a": [
    "pizza"
   ]
  },
  {
   "attribute": "phone",
   "level": "equal",
   "match_weight": 9,
   "a": [
    "415-555-2300"
   ],
   "b": [
    "(415) 555-2300"
   ]
  },
  {
   "attribute": "address",
   "level": "street and number equal",
   "match_weight": 6.5,
   "a": [
    "1000 Market Street"
   ],
   "b": [
    "1000 Market St."
   ]
  }
 ],
 "blocking_keys": [
  {
   "hash": "3186085007576474761",
   "kind": "house number and street",
   "text": "1000 · market"
  },
  {
   "hash": "12739238805447864620",
   "kind": "phone",
   "text": "155552300"
  }
 ]
}`
	if diff := gocmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestExplain_OfNothing(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	a, b := m.Normalise("s", "1", nil), m.Normalise("s", "2", nil)
	e := m.Explain(a, b, m.Compare(a, b))
	if e.Weight != 0 || e.Outcome != match.Possible || e.Lines == nil || e.BlockingKeys == nil || len(e.Lines)+len(e.BlockingKeys) != 0 {
		t.Errorf("%+v", e)
	}
}
