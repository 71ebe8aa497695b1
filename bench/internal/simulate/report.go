// SPDX-License-Identifier: Apache-2.0

package simulate

// Report is what came of a simulation.
type Report struct {
	Seed    uint64 `json:"seed"`
	Records int64  `json:"records"`
	// Fill is how many records a cell held on average when the next generation was added.
	Fill        int64        `json:"fill"`
	Generations []Generation `json:"generations"`
	Room        Room         `json:"room"`
	Routed      Routed       `json:"routed"`
	Literal     Literal      `json:"literal"`
	Rehash      Rehash       `json:"rehash"`
}

// Generation is a generation of cells, when the next one comes or the last record came.
type Generation struct {
	Generation int    `json:"generation"`
	Cells      uint64 `json:"cells"`
	// Day on which the first record went to the generation, counted from the first record of all.
	Day float64 `json:"day"`
	// Records are those that its cells took.
	Records int64 `json:"records"`
	// Fullest and Emptiest are the records of those cells, in times the mean.
	Fullest  float64 `json:"fullest_of_mean"`
	Emptiest float64 `json:"emptiest_of_mean"`
	// Used is the part of its range of puids that the fullest cell gave away.
	Used float64 `json:"puids_used"`
	// Absent is how many cells are looked at to learn that nobody has a key, Known how many to
	// find the key of a record; with filters of the older cells, and without.
	Absent        float64 `json:"absent"`
	AbsentFilters float64 `json:"absent_with_filters"`
	Known         float64 `json:"known"`
	KnownFilters  float64 `json:"known_with_filters"`
}

// Room is what is left after the last record.
type Room struct {
	// Puids is how many more the cells of the newest generation can give away until the fullest is full.
	Puids int64 `json:"puids"`
	// Doublings is how many more generations of twice as many cells the ranges of puids allow.
	Doublings int `json:"doublings"`
	// Cells there are, in all generations.
	Cells uint64 `json:"cells"`
	// FilterBytes is what the filters of all older cells take.
	FilterBytes int64 `json:"filter_bytes"`
}

// Routed is a sample of puids and ids, routed by the newest map and by all versions before.
type Routed struct {
	Sample int `json:"sample"`
	// Wrong is how many were sent to a cell that is not theirs. Not to know, and to refresh the map, is
	// not wrong.
	Wrong int `json:"wrong"`
}

// Literal is the literal scheme.
type Literal struct {
	// Servers learn of a generation within Lag, and the key of a new record comes Mentions more times
	// within about that: what Options said.
	Servers  int     `json:"servers"`
	Lag      float64 `json:"lag_seconds"`
	Mentions float64 `json:"mentions"`
	// Window is how many new keys came while servers learned of a generation, of all generations.
	Window int64 `json:"keys_in_windows"`
	// Duplicates is how many of them got two puids. Locus has none: the older cell is sealed and refuses.
	Duplicates int64 `json:"keys_with_two_puids"`
	// Absent and Known are look-ups, as those of the last generation: without filters.
	Absent float64 `json:"absent"`
	Known  float64 `json:"known"`
}

// Rehash is growing by spreading all rows anew.
type Rehash struct {
	// Cells there are in the end: those of the last generation alone.
	Cells uint64 `json:"cells"`
	// JumpRows and RangeRows are how many rows were moved from cell to cell, JumpBytes and RangeBytes
	// what they take. Locus moves none.
	JumpRows   int64   `json:"jump_rows"`
	JumpBytes  float64 `json:"jump_bytes"`
	RangeRows  int64   `json:"range_rows"`
	RangeBytes float64 `json:"range_bytes"`
}
