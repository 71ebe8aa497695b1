// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"fmt"
	"os"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/console"
)

// An open page is updated by events that contain the changes since the previous one.
func ExampleLive_WriteEvent() {
	m, err := cell.NewMap(cell.Spec{Generations: []cell.Generation{{Cells: 1}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := console.New("0.1.0")
	s := console.Snapshot{
		Time:    time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Status:  &cells.Status{Ready: true, Epoch: 1, Counts: entity.Counts{Records: 12345, Entities: 5000}},
		Map:     m,
		History: &console.History{},
	}
	before := c.Live(s)
	s.Time = s.Time.Add(time.Second)
	s.Status.Counts.Records++
	if err := c.Live(s).WriteEvent(os.Stdout, before); err != nil {
		fmt.Println(err)
	}
	// Output: data: {"page":"0.1.0/1/0","empty":false,"text":{"records":"12,346","time":"2026-11-20T12:00:01Z"}}
}
