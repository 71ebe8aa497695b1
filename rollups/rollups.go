// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
)

// Status is how a rollup stands.
type Status struct {
	Name string `json:"name"`
	// State is building until the first generation serves, then following; failed or stalled if it is that
	// in some cell, whose Reason says why.
	State State `json:"state"`
	// Definition is that of the generation that serves, or of the first one while it is being built.
	Definition rollup.Definition `json:"definition"`
	// Generation serves, 0 if none does yet; Building is to take its place, 0 if none is.
	Generation int64 `json:"generation"`
	Building   int64 `json:"building,omitempty"`
	// Built is how many cells hold the generation that is being built, and Trouble says why one of them
	// cannot be built; that of a changed definition leaves the one that serves alone.
	Built   int    `json:"built,omitempty"`
	Trouble string `json:"trouble,omitempty"`
	// Groups is the sum over the cells: a group that two of them have counts twice.
	Groups    int64               `json:"groups"`
	Watermark changelog.Watermark `json:"watermark"`
	// Lag is for how long the oldest change has waited that the rollup does not contain, in the cell where
	// that is longest; 0 if there is none.
	Lag time.Duration `json:"lag"`
	// Verified is when the rollup was last found equal to its recomputation in the cell where that is
	// longest ago; zero if it never was in one of them.
	Verified time.Time `json:"verified,omitzero"`
	Cells    []Cell    `json:"cells"` // in the order of the map
}

// State is what a rollup is doing.
type State string

// The states of a rollup.
const (
	Building  State = "building"  // it was defined, and cannot be read yet
	Following State = "following" // it is true at its watermark, which moves on
	Failed    State = "failed"    // in some cell it cannot go on; Reason says why
	Partial   State = "partial"   // some cell does not answer
)

// Cell is how a rollup stands in one cell.
type Cell struct {
	Cell  cell.ID      `json:"cell"`
	State rollup.State `json:"state,omitempty"` // "" if the cell holds no generation of it, or does not answer
	// Watermark is the last change that is counted, Last the last one in the log.
	Watermark changelog.Seq `json:"watermark,string"`
	Last      changelog.Seq `json:"last,string"`
	Lag       time.Duration `json:"lag"`
	Groups    int64         `json:"groups"`
	// Owner is the process that follows the cell, Token what its commits carry.
	Owner    string    `json:"owner,omitempty"`
	Token    int64     `json:"token"`
	Verified time.Time `json:"verified,omitzero"`
	Reason   string    `json:"reason,omitempty"`
}

// Read says how groups are to be read.
type Read struct {
	// Min waits, at most Patience, until the rollup contains everything up to this watermark: that of a
	// write, say, to read what was written. Latest waits for everything that was committed when the
	// question came.
	Min    changelog.Watermark
	Latest bool
	// Patience defaults to five seconds; after it the error is rollup.ErrBehind.
	Patience time.Duration
	// Partial answers though some cells cannot be asked, and names them.
	Partial bool
}

// Query asks for groups.
type Query struct {
	Read
	// Group asks for one; nil for all, in the order of their names.
	Group []string
	// After leaves out groups up to and including this one; Limit is 1 to 1000, 0 for 100.
	After []string
	Limit int
	// Top asks for the groups whose total of the measure By is largest, at most so many, 1 to 1000. Measures
	// that keep their values, min, max, top and distinct, are not in such an answer.
	Top int
	By  string
}

// Answer is what a rollup says.
type Answer struct {
	Name       string            `json:"rollup"`
	Definition rollup.Definition `json:"definition"`
	Groups     []rollup.Group    `json:"groups"`
	// Next is the After of the next page, nil if there is none.
	Next []string `json:"next,omitempty"`
	// Watermark is what the answer is true at: it equals the recomputation from what each cell held there.
	Watermark changelog.Watermark `json:"watermark"`
	// AsOf is when that was, and Lag for how long the oldest change has waited that is not in it.
	AsOf       time.Time     `json:"as_of"`
	Lag        time.Duration `json:"lag"`
	Generation int64         `json:"generation"`
	State      State         `json:"state"`
	Verified   time.Time     `json:"verified,omitzero"`
	// Missing are cells that could not be asked; see Partial.
	Missing []cell.ID `json:"missing,omitempty"`
}

// CellVerification is what a recomputation found in one cell.
type CellVerification struct {
	Cell cell.ID `json:"cell"`
	*rollup.Verification
}

// CellEffect is a change that touched a group.
type CellEffect struct {
	Cell cell.ID `json:"cell"`
	rollup.Effect
}
