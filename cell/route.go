// SPDX-License-Identifier: Apache-2.0

package cell

import "github.com/locus-db/locus/locality"

// Place is a cell and its piece of the ring.
type Place struct {
	Cell ID `json:"cell"`
	// URL is where the cell is, redacted (Redact); "" if the map does not say.
	URL string `json:"url,omitempty"`
	// Lo to Hi-1 are the positions of the cell.
	Lo uint64 `json:"segment_lo"`
	Hi uint64 `json:"segment_hi"`
}

// Role is the role of a generation on a map.
type Role string

// The roles of generations, from the oldest to the newest.
const (
	RoleRetired   Role = "retired"   // below the floor: its keys were copied to newer cells
	RoleOlder     Role = "older"     // searched for keys, takes none
	RoleCurrent   Role = "current"   // takes new keys
	RoleAnnounced Role = "announced" // takes IDs dated from its start on, no keys yet
)

// Layer is the cell of one generation at a position of the ring.
type Layer struct {
	Place
	// Cells is how many cells the generation has, Starts its first ID time.
	Cells  uint64 `json:"cells"`
	Starts string `json:"starts"`
	Role   Role   `json:"role"`
	// Puids is the range of the cell.
	Puids Range `json:"puids"`
}

// Answer is the result of a probe.
type Answer string

// The results of a probe.
const (
	AnswerNotAsked    Answer = "not asked"      // the key was found before, or no probe was made
	AnswerNo          Answer = "no"             // the directory lacks the key
	AnswerFilterNo    Answer = "filter says no" // the filter proves that the directory lacks the key; nothing was read
	AnswerFound       Answer = "found"          // the directory has the key
	AnswerUnavailable Answer = "unavailable"    // it is not known whether the key exists
)

// Probe is a cell to search for an external key, and the result.
type Probe struct {
	Place
	// Why explains why this cell was chosen.
	Why string `json:"why"`
	// State of the cell's directory: open, sealed or retired; "" if it was not read.
	State string `json:"state,omitempty"`
	// Asked reports whether the directory was read.
	Asked  bool   `json:"asked"`
	Answer Answer `json:"answer"`
}

// Range is the range of puids that PuidRange returns, Lo to Hi.
type Range struct {
	Lo int64 `json:"lo,string"`
	Hi int64 `json:"hi,string"`
}

// Window is the segment of the ring, and the range of times, where an ID is minted to live close to a key
// (locality.Segment).
type Window struct {
	Lo uint64 `json:"segment_lo"`
	Hi uint64 `json:"segment_hi"`
	// From to Until, Until excluded, is the date of the ID; "" is open.
	From  string `json:"from,omitempty"`
	Until string `json:"until,omitempty"`
}

// KeyRoute explains where an external key may live. Its probes are the cells whose directories can have it; the first
// one takes the key if none has it.
type KeyRoute struct {
	Source string `json:"source"`
	Key    string `json:"key"`
	// Hash is the 64-bit hash in hex, Position its upper half.
	Hash     string `json:"hash"`
	Position uint32 `json:"position"`
	// Ring and Digest are the two parts of the key in a directory.
	Ring   int64  `json:"ring,string"`
	Digest string `json:"digest"`
	// Layers are all generations at the position, the oldest first.
	Layers []Layer `json:"layers"`
	// Probes are in the order of execution. A Router only lists them; the process that makes them records the results
	// with Saw.
	Probes []Probe `json:"probes"`
	// Mint is where an ID is minted to live close to the key, Window the same for readers.
	Mint   locality.Segment `json:"-"`
	Window Window           `json:"mint"`
	// Cost is the maximum number of directories to read, Asked the number read, Saved the number that filters made
	// unnecessary.
	Cost  int `json:"cost"`
	Asked int `json:"asked"`
	Saved int `json:"saved"`
	// TookMS is how long the probes took, in milliseconds; 0 if none was made.
	TookMS float64 `json:"took_ms,omitempty"`
}

// Saw records the result of the probe of a generation: the state of its cell and the answer. It ignores a generation
// without a probe.
func (r *KeyRoute) Saw(gen int, state KeyState, answer Answer) {
	r.Asked, r.Saved = 0, 0
	for i := range r.Probes {
		p := &r.Probes[i]
		if int(p.Cell.Gen) == gen {
			p.State, p.Answer = state.String(), answer
			p.Asked = answer == AnswerNo || answer == AnswerFound || answer == AnswerUnavailable
		}
		if p.Asked {
			r.Asked++
		}
		if p.Answer == AnswerFilterNo {
			r.Saved++
		}
	}
}

// Slot is one of the ranges of puids that begin at one start on the ring: each generation has its own range, one after
// the other.
type Slot struct {
	Gen int `json:"generation"`
	// Cell is nil if no cell of the generation starts there: then the range is unused.
	Cell *ID `json:"cell,omitempty"`
	Range
}

// PuidRoute explains where a puid lives.
type PuidRoute struct {
	PUID int64 `json:"puid,string"`
	// Slot numbers the ranges from the lowest puids up. Finest is the cell of the finest generation that contains the
	// slot, Distance the distance of the slot from the start of that cell.
	Slot     uint64 `json:"slot"`
	Finest   uint64 `json:"finest"`
	Distance uint64 `json:"distance"`
	// Slots are the ranges that begin at that start, generation 0 first.
	Slots []Slot `json:"slots"`
	// Place and Puids are the cell and its range, nil if no cell has the puid.
	*Place
	Puids *Range `json:"puids,omitempty"`
	// Why explains why this cell was chosen, or why none has the puid.
	Why string `json:"why"`
	// Cost is 0: arithmetic only.
	Cost int `json:"cost"`
}

// EntityRoute explains where an entity ID lives.
type EntityRoute struct {
	ID       locality.ID `json:"id"`
	Position uint32      `json:"position"`
	// Millis is the time in the ID, milliseconds since 1970; Time is the same as text.
	Millis int64  `json:"time_ms"`
	Time   string `json:"time"`
	// Layers are all generations at the position, the oldest first.
	Layers []Layer `json:"layers"`
	// Place is nil if the map does not cover the time of the ID.
	*Place
	// Why explains why this cell was chosen, or why none was.
	Why string `json:"why"`
	// Cost is 0: arithmetic only.
	Cost int `json:"cost"`
}
