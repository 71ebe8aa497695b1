// SPDX-License-Identifier: Apache-2.0

package cell

import "github.com/locus-db/locus/locality"

// Place is a cell and the piece of the ring that it holds.
type Place struct {
	Cell ID `json:"cell"`
	// URL is where the cell is, as Redact shows it; "" if the map does not say.
	URL string `json:"url,omitempty"`
	// Lo to Hi-1 are the positions of the cell.
	Lo uint64 `json:"segment_lo"`
	Hi uint64 `json:"segment_hi"`
}

// Role says what a generation is for on a map.
type Role string

// The roles of generations, from the oldest to the newest.
const (
	RoleRetired   Role = "retired"   // below the floor: its keys were copied to newer cells
	RoleOlder     Role = "older"     // asked for keys, takes none
	RoleCurrent   Role = "current"   // takes new keys
	RoleAnnounced Role = "announced" // takes ids dated from its start on, no keys yet
)

// Layer is a generation at one position of the ring: the cell that holds it.
type Layer struct {
	Place
	// Cells is how many cells the generation has, Starts its first id time.
	Cells  uint64 `json:"cells"`
	Starts string `json:"starts"`
	Role   Role   `json:"role"`
	// Puids is the range of the cell.
	Puids Range `json:"puids"`
}

// Answer says what came of a probe.
type Answer string

// The answers of a probe.
const (
	AnswerNotAsked    Answer = "not asked"       // the key was found before, or nobody looked
	AnswerNo          Answer = "no"              // the directory lacks the key
	AnswerFilterNo    Answer = "filter says no"  // so does the filter of the cell, for nothing
	AnswerFound       Answer = "found"           // the directory has it
	AnswerUnavailable Answer = "does not answer" // so it is not known whether the key exists
)

// Probe is a cell to ask for an external key, and what came of it.
type Probe struct {
	Place
	// Why says in words what chose the cell.
	Why string `json:"why"`
	// State is that of the cell's directory, open, sealed or retired; "" if nobody looked.
	State string `json:"state,omitempty"`
	// Asked tells whether the directory was read.
	Asked  bool   `json:"asked"`
	Answer Answer `json:"answer"`
}

// Range is what PuidRange returns, Lo to Hi.
type Range struct {
	Lo int64 `json:"lo,string"`
	Hi int64 `json:"hi,string"`
}

// Window is where, and dated when, an id is minted to live beside a key
// (locality.Segment).
type Window struct {
	Lo uint64 `json:"segment_lo"`
	Hi uint64 `json:"segment_hi"`
	// From to Until, Until itself left out, is the date of the id; "" is open.
	From  string `json:"from,omitempty"`
	Until string `json:"until,omitempty"`
}

// KeyRoute explains where an external key may live. Its probes are the cells whose
// directories can have it, the first being the one that takes it if none does.
type KeyRoute struct {
	Source string `json:"source"`
	Key    string `json:"key"`
	// Hash is the 64-bit hash in hex, Position its upper half.
	Hash     string `json:"hash"`
	Position uint32 `json:"position"`
	// Ring and Digest are what a directory stores.
	Ring   int64  `json:"ring,string"`
	Digest string `json:"digest"`
	// Layers are all generations at the position, the oldest first.
	Layers []Layer `json:"layers"`
	// Probes in the order in which they are made. A Router only lists them; whoever makes
	// them says by Saw what came of each.
	Probes []Probe `json:"probes"`
	// Mint is where an id is minted to live beside the key, Window the same for readers.
	Mint   locality.Segment `json:"-"`
	Window Window           `json:"mint"`
	// Cost is the number of directories to ask at most, Asked that of those that were,
	// Saved that of those that a filter made needless.
	Cost  int `json:"cost"`
	Asked int `json:"asked"`
	Saved int `json:"saved"`
	// TookMS is how long asking took, in milliseconds; 0 if nobody asked.
	TookMS float64 `json:"took_ms,omitempty"`
}

// Saw notes what came of the probe of a generation: the state of its cell and the
// answer. A generation that the route has no probe of is left out.
func (r *KeyRoute) Saw(gen int, state Keys, answer Answer) {
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

// Slot is one of the ranges of puids that begin at one start on the ring: each
// generation has its own, one behind the other.
type Slot struct {
	Gen int `json:"generation"`
	// Cell is nil if no cell of the generation starts there: then the range is nobody's.
	Cell *ID `json:"cell,omitempty"`
	Range
}

// PuidRoute explains where a puid lives.
type PuidRoute struct {
	PUID int64 `json:"puid,string"`
	// Slot numbers the ranges from the lowest puids up; Finest is the cell of the
	// finest generation that the slot lies in, Distance how far behind its start.
	Slot     uint64 `json:"slot"`
	Finest   uint64 `json:"finest"`
	Distance uint64 `json:"distance"`
	// Slots are the ranges that begin at that start, generation 0 first.
	Slots []Slot `json:"slots"`
	// Place and Puids are the cell and its range, nil if no cell has the puid.
	*Place
	Puids *Range `json:"puids,omitempty"`
	// Why says in words what chose the cell, or why none has the puid.
	Why string `json:"why"`
	// Cost is 0: arithmetic only.
	Cost int `json:"cost"`
}

// EntityRoute explains where an entity id lives.
type EntityRoute struct {
	ID       locality.ID `json:"id"`
	Position uint32      `json:"position"`
	// Millis is the time in the id, milliseconds since 1970; Time the same in words.
	Millis int64  `json:"time_ms"`
	Time   string `json:"time"`
	// Layers are all generations at the position, the oldest first.
	Layers []Layer `json:"layers"`
	// Place is nil if the map does not speak about the time of the id.
	*Place
	// Why says in words what chose the cell, or why none was.
	Why string `json:"why"`
	// Cost is 0: arithmetic only.
	Cost int `json:"cost"`
}
