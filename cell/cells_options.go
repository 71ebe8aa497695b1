// SPDX-License-Identifier: Apache-2.0

package cell

import "time"

// CellsOptions are options of OpenCells.
type CellsOptions[T Store] struct {
	// Authority is the URL of the cell that stores the newest cell map.
	Authority string
	// Driver returns the driver of a URL. Required.
	Driver func(url string) (Driver[T], error)
	// New is the first cell map of an installation that does not exist yet. Its Until defaults to Notice from now. If
	// nil, no installation is created: ErrMissing.
	New *Spec
	// Rules identifies the rules that derived rows are made with; see Identity.
	Rules string
	// Alone promises that no other process has these cells open or will open them while this one does.
	Alone bool
	// Notice is how long before its start a generation is announced, which is also how long a map is valid. Defaults to
	// one minute.
	Notice time.Duration
	// MovePatience is how long a process that moves a cell may be silent before another process takes the move over.
	// Defaults to 15 s.
	MovePatience time.Duration
	// FilterMemory is the memory for filters of sealed cells, in bytes. Defaults to 256 MiB.
	FilterMemory int
	// Now is the clock that IDs are minted by. Defaults to time.Now.
	Now func() time.Time
	// OnEvent is called for background events; may be nil. It is called from many goroutines and must not block.
	OnEvent func(Event)
	// Ledger stores the pulses of the cells outside of them; may be nil.
	Ledger Ledger
	// Beat is the interval at which the pulses of written cells are attested in other cells. 0 disables it.
	Beat time.Duration
	// Others are URLs at which to look for cells of the first generation while the authority cannot be reached: the
	// i-th cell at Others[i]. Empty URLs are skipped.
	Others []string
	// Restored accepts cells that went back as they are. For Reincarnate.
	Restored bool
	// Readdress, if set, turns a copy into a separate installation. It requires Restored.
	Readdress *Readdress
	// Check, if set, is called with the map of the authority before any other database is opened.
	Check func(*Map) error
	// OnClose releases what the drivers hold besides the databases, such as the lock of a directory. Close calls it
	// once, last, also after a failed OpenCells.
	OnClose func() error
}

// Event is something that an open installation did in the background.
type Event struct {
	// What is one of the names below.
	What string
	// Cell is the cell it concerns, if any.
	Cell ID
	// Epoch is the epoch of the cell map it concerns, if any.
	Epoch uint64
	// Err is the reason for a failure, nil on success.
	Err error
}

// Values of Event.What. Err distinguishes success from failure.
const (
	EventMap    = "map"    // a newer cell map is in use
	EventCopied = "copied" // the map was copied to a cell
	EventOpened = "opened" // the database of a cell was opened
	EventClosed = "closed" // the database that a cell has left was closed
	EventFilter = "filter" // the filter of a sealed cell was read
	EventBeat   = "beat"   // the pulse of a cell could not be read or attested
	EventBack   = "back"   // a cell went back and is no longer used
)
