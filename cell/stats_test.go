// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"encoding/json"
	"testing"

	"github.com/locus-db/locus/cell"
)

func TestStats_JSONSaysStatesInWords(t *testing.T) {
	t.Parallel()
	s := cell.Stats{
		Cell: cell.ID{Gen: 1, Index: 19}, URL: "sqlite:g1-19.db", Filter: true, PUIDs: 12, PUIDRoom: 1 << 32, Bytes: 4096,
		Head: cell.Head{Keys: cell.Sealed, Home: cell.Moving, Incarnation: 2, Epoch: 9, KnownEpoch: 10, Fence: 3},
	}
	text, err := json.Marshal(s)
	const want = `{"cell":"g1-19","url":"sqlite:g1-19.db","head":{"keys":"sealed","home":"moving","incarnation":2,"epoch":9,"known_epoch":10,"fence":3},` +
		`"filter":true,"puids":12,"puid_room":4294967296,"bytes":4096}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v\n want %s", text, err, want)
	}
	var back cell.Stats
	if err := json.Unmarshal(text, &back); err != nil || back != s {
		t.Errorf("read back %+v, %v", back, err)
	}
}

func TestStates_ReadTheirWordsAndNoOthers(t *testing.T) {
	t.Parallel()
	for _, k := range []cell.KeyState{cell.Open, cell.Sealed, cell.Retired} {
		var back cell.KeyState
		if err := back.UnmarshalText([]byte(k.String())); err != nil || back != k {
			t.Errorf("%v is read as %v, %v", k, back, err)
		}
	}
	for _, r := range []cell.Placement{cell.Serving, cell.Moving, cell.Moved} {
		var back cell.Placement
		if err := back.UnmarshalText([]byte(r.String())); err != nil || back != r {
			t.Errorf("%v is read as %v, %v", r, back, err)
		}
	}
	k, r := cell.Retired, cell.Moved
	if k.UnmarshalText([]byte("ajar")) == nil || r.UnmarshalText(nil) == nil || k != cell.Retired || r != cell.Moved {
		t.Errorf("words of no state: %v, %v", k, r)
	}
}
