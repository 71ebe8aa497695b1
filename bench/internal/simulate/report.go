// SPDX-License-Identifier: Apache-2.0

package simulate

// Report is the result of a simulation.
type Report struct {
	Seed    uint64 `json:"seed"`
	Records int64  `json:"records"`
	// Fill is the average number of records per cell when the next generation was added.
	Fill        int64        `json:"fill"`
	Generations []Generation `json:"generations"`
	Room        Room         `json:"room"`
	Routed      Routed       `json:"routed"`
	Literal     Literal      `json:"literal"`
	Rehash      Rehash       `json:"rehash"`
}

// Generation is a generation of cells, at the time of the next one or of the last record.
type Generation struct {
	Generation int    `json:"generation"`
	Cells      uint64 `json:"cells"`
	// Day is when the first record went to the generation, in days since the first record of all.
	Day float64 `json:"day"`
	// Records is the number of records its cells took.
	Records int64 `json:"records"`
	// Fullest and Emptiest are the records of those cells, as multiples of the mean.
	Fullest  float64 `json:"fullest_of_mean"`
	Emptiest float64 `json:"emptiest_of_mean"`
	// Used is the fraction of its puids that the fullest cell has given out.
	Used float64 `json:"puids_used"`
	// Absent is the number of cells visited to find that a key does not exist, Known the number to find an existing
	// key; with filters of the older cells, and without.
	Absent        float64 `json:"absent"`
	AbsentFilters float64 `json:"absent_with_filters"`
	Known         float64 `json:"known"`
	KnownFilters  float64 `json:"known_with_filters"`
}

// Room is what is left after the last record.
type Room struct {
	// Puids is how many more puids the cells of the newest generation can give out until the fullest is full.
	Puids int64 `json:"puids"`
	// Doublings is how many more generations of twice as many cells the ranges of puids allow.
	Doublings int `json:"doublings"`
	// Cells is the number of cells in all generations.
	Cells uint64 `json:"cells"`
	// FilterBytes is the size of the filters of all older cells.
	FilterBytes int64 `json:"filter_bytes"`
}

// Routed is a sample of puids and IDs, routed by the newest map and by all earlier versions.
type Routed struct {
	Sample int `json:"sample"`
	// Wrong is how many were sent to the wrong cell. Not knowing the cell and refreshing the map is not wrong.
	Wrong int `json:"wrong"`
}

// Literal is the literal scheme.
type Literal struct {
	// Servers learn of a generation within Lag, and the key of a new record comes Mentions more times within about
	// that time: copied from Options.
	Servers  int     `json:"servers"`
	Lag      float64 `json:"lag_seconds"`
	Mentions float64 `json:"mentions"`
	// Window is the number of new keys that came while servers learned of a generation, over all generations.
	Window int64 `json:"keys_in_windows"`
	// Duplicates is how many of them got two puids. Locus has none: the older cell is sealed and refuses.
	Duplicates int64 `json:"keys_with_two_puids"`
	// Absent and Known are lookups, like those of the last generation, without filters.
	Absent float64 `json:"absent"`
	Known  float64 `json:"known"`
}

// Rehash is growth by redistributing all rows.
type Rehash struct {
	// Cells is the final number: that of the last generation alone.
	Cells uint64 `json:"cells"`
	// JumpRows and RangeRows are the numbers of rows moved between cells, JumpBytes and RangeBytes their sizes.
	// Locus moves none.
	JumpRows   int64   `json:"jump_rows"`
	JumpBytes  float64 `json:"jump_bytes"`
	RangeRows  int64   `json:"range_rows"`
	RangeBytes float64 `json:"range_bytes"`
}
