// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
)

// Status is the state of a rollup.
type Status struct {
	Name string `json:"name"`
	// State is Building until the first generation serves, then Following; Failed if it failed in some cell, or
	// Partial if some cell is unavailable. The cell's Reason says why.
	State State `json:"state"`
	// Definition is the definition of the serving generation, or of the first one while it is being built.
	Definition rollup.Definition `json:"definition"`
	// Generation is the serving generation, 0 if there is none yet; Building is the generation that will replace it, 0
	// if there is none.
	Generation int64 `json:"generation"`
	Building   int64 `json:"building,omitempty"`
	// Built is the number of cells that have built the generation Building. Trouble is the reason why one of them
	// cannot build it; a failed build does not affect the serving generation.
	Built   int    `json:"built,omitempty"`
	Trouble string `json:"trouble,omitempty"`
	// Groups is the sum over the cells: a group in two cells counts twice.
	Groups    int64               `json:"groups"`
	Watermark changelog.Watermark `json:"watermark"`
	// Lag is the longest time, over all cells, that a change has been waiting to be applied; 0 if no change is.
	Lag time.Duration `json:"lag"`
	// Verified is when the rollup was last found equal to its recomputation: the earliest time of all cells, zero if it
	// never was in one of them.
	Verified time.Time `json:"verified,omitzero"`
	Cells    []Cell    `json:"cells"` // in the order of the map
}

// State is the state of a rollup.
type State string

// The states of a rollup.
const (
	Building  State = "building"  // defined, but not readable yet
	Following State = "following" // true at its watermark, which advances
	Failed    State = "failed"    // failed in some cell; Reason says why
	Partial   State = "partial"   // some cell is unavailable
)

// Cell is the state of a rollup in one cell.
type Cell struct {
	Cell  cell.ID      `json:"cell"`
	State rollup.State `json:"state,omitempty"` // "" if the cell has no generation of it, or is unavailable
	// Watermark is the last change applied, Last the last one in the log.
	Watermark changelog.Seq `json:"watermark,string"`
	Last      changelog.Seq `json:"last,string"`
	Lag       time.Duration `json:"lag"`
	Groups    int64         `json:"groups"`
	// Owner is the process that follows the cell, Token its lease token.
	Owner    string    `json:"owner,omitempty"`
	Token    int64     `json:"token"`
	Verified time.Time `json:"verified,omitzero"`
	Reason   string    `json:"reason,omitempty"`
}

// Read controls how groups are read.
type Read struct {
	// Min waits, at most Patience, until the rollup contains everything up to this watermark, for example that of
	// a write, to read your own writes. Latest waits for everything committed before the query.
	Min    changelog.Watermark
	Latest bool
	// Patience defaults to five seconds; after it the error is rollup.ErrBehind.
	Patience time.Duration
	// Partial answers even if some cells are unreachable, and names them.
	Partial bool
}

// Query selects groups.
type Query struct {
	Read
	// Group selects one group; nil selects all, in the order of their names.
	Group []string
	// After skips groups up to and including this one; Limit is 1 to 1000, 0 for 100.
	After []string
	Limit int
	// Top selects the groups with the largest total of the measure By, at most Top of them, 1 to 1000. The answer
	// leaves out measures that keep single values: min, max, top and distinct.
	Top int
	By  string
}

// Answer is the answer to a Query.
type Answer struct {
	Name       string            `json:"rollup"`
	Definition rollup.Definition `json:"definition"`
	Groups     []rollup.Group    `json:"groups"`
	// Next is the After of the next page, nil if there is none.
	Next []string `json:"next,omitempty"`
	// Watermark is the position of the answer: it equals the recomputation from each cell's data there.
	Watermark changelog.Watermark `json:"watermark"`
	// AsOf is the time of that position. Lag is how long the oldest change not in the answer has been waiting.
	AsOf       time.Time     `json:"as_of"`
	Lag        time.Duration `json:"lag"`
	Generation int64         `json:"generation"`
	State      State         `json:"state"`
	Verified   time.Time     `json:"verified,omitzero"`
	// Missing lists unreachable cells; see Partial.
	Missing []cell.ID `json:"missing,omitempty"`
}

// CellVerification is the result of a recomputation in one cell.
type CellVerification struct {
	Cell cell.ID `json:"cell"`
	*rollup.Verification
}

// CellEffect is a change that touched a group.
type CellEffect struct {
	Cell cell.ID `json:"cell"`
	rollup.Effect
}
