// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
)

// A shared installation is ready without one of its cells, and reports which one.
func TestHealthOf(t *testing.T) {
	t.Parallel()
	status := &cells.Status{
		Ready: true, Reason: "cell g0-1 is unavailable\x1b", Epoch: 9, Until: time.UnixMilli(1e12).UTC(), Redo: 3,
		Cells: []cells.CellStatus{
			{Stats: cell.Stats{Cell: cell.ID{}, Head: cell.Head{Keys: cell.Sealed, Incarnation: 1}}, Writes: true},
			{Stats: cell.Stats{Cell: cell.ID{Index: 1}}},
		},
	}
	got, err := json.Marshal(healthOf(status))
	want := `{"ready":true,"reason":"cell g0-1 is unavailable\\x1b","epoch":9,"until":"2001-09-09T01:46:40Z","redo":3,"cells":[` +
		`{"cell":"g0-0","answers":true,"writes":true,"keys":"sealed","home":"serving"},{"cell":"g0-1","answers":false,"writes":false,"keys":"open","home":"serving"}]}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v, want\n%s", got, err, want)
	}
}
