// SPDX-License-Identifier: Apache-2.0

package cell

// Stats tells how full a cell is.
type Stats struct {
	Cell ID     `json:"cell"`
	URL  string `json:"url"`
	// PUIDs is how many puids the cell has given away, PUIDRoom how many it has in all.
	PUIDs    uint64 `json:"puids"`
	PUIDRoom uint64 `json:"puid_room"`
	// Bytes is what the cell takes on its disk, logs included.
	Bytes int64 `json:"bytes"`
}
