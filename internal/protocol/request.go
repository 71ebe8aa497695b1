// SPDX-License-Identifier: Apache-2.0

package protocol

// Nothing is the puid of a key that has no puid.
const Nothing = 0

// State is the state of the keys of a cell.
type State uint8

// The states of keys. Each follows the one before, and none comes back.
const (
	Open    State = iota // takes keys and postings
	Sealed               // immutable
	Retired              // its puids are in newer cells; it is not read any more
)

// Action is the next step of a Walk, a Rollout or a Compaction.
type Action uint8

// Steps on the cell of a generation, on the map, or on all cells.
const (
	ActionDone    Action = iota // nothing more
	ActionRefresh               // the newest map, in Reply.View

	// ActionRead and the next two are one transaction each, in the key's cell of generation Gen.
	ActionRead // its state and row, from one snapshot
	ActionSeal // open becomes sealed, which waits for the writers in flight; then as ActionRead
	ActionPut  // if the cell is open: the key gets a puid unless it has one; the row

	// ActionMake and the following are steps of growth, on the cells of generation Gen; so is ActionSeal.
	ActionMake     // the databases of the new generation
	ActionAnnounce // the next map lists generation Gen; the newest map after that
	ActionWait     // until generation Gen starts
	ActionPublish  // the next map makes generation Gen current; the newest map after that
	ActionFilter   // filters of sealed cells
	ActionCopy     // the rows of older generations that Compaction.Carry selects, into Gen
	ActionFloor    // the next map has the floor Gen; the newest map after that
	ActionRetire   // sealed becomes retired
	ActionDrop     // the key rows of retired cells are deleted
)

// Request is the next step. It is atomic and may be repeated.
type Request struct {
	Do  Action
	Gen uint16
	// Epoch is the epoch of the map that the request was routed with: a cell with a newer map may reject a write.
	Epoch uint64
}

// Reply is the result of a Request.
type Reply struct {
	// Keys is the state of the cell, Row the puid of the key there, or Nothing.
	Keys State
	Row  int64
	// Fresh reports that the request gave the key its puid.
	Fresh bool
	// Fenced reports that the cell refused: it is not open, or not at this database, or the epoch of its head is above
	// the request's. Nothing was done.
	Fenced bool
	// View is the newest map, if the request was for that.
	View View
}

// Lasting reports whether a reply to ActionRead stays true and may be cached: the rows of a sealed cell never change,
// while the rows of an open one may.
func (r Reply) Lasting() bool {
	return !r.Fenced && r.Keys == Sealed
}
