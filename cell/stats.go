// SPDX-License-Identifier: Apache-2.0

package cell

import "fmt"

// Stats is the state and the size of a cell.
type Stats struct {
	Cell ID     `json:"cell"`
	URL  string `json:"url"`
	// Head is the cell's head.
	Head Head `json:"head"`
	// Filter reports whether the cell has a filter of its keys; only sealed ones do.
	Filter bool `json:"filter"`
	// PUIDs is how many puids the cell has allocated, PUIDRoom the size of its range.
	PUIDs    uint64 `json:"puids"`
	PUIDRoom uint64 `json:"puid_room"`
	// Bytes is the size of the cell on its disk, logs included.
	Bytes int64 `json:"bytes"`
	// WAL is the size of the cell's write-ahead log, if it has one of its own.
	WAL int64 `json:"-"`
	// Pool is the use of the connections that the process has to the cell's server, shared with other cells there. It
	// is zero for cells in files.
	Pool Pool `json:"-"`
}

// Pool is the use of a process's connections to one server: at most Budget, of which Open are open and Idle of these
// unused, and the transactions that wait for one.
type Pool struct {
	Server                      string
	Budget, Open, Idle, Waiting int
}

// MarshalText returns the word of String; its error is always nil.
func (k KeyState) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses a word of String. After an error k is unchanged.
func (k *KeyState) UnmarshalText(b []byte) error { return unword(k, b, Open, Sealed, Retired) }

// MarshalText returns the word of String; its error is always nil.
func (r Placement) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses a word of String. After an error r is unchanged.
func (r *Placement) UnmarshalText(b []byte) error { return unword(r, b, Serving, Moving, Moved) }

func unword[T fmt.Stringer](to *T, word []byte, all ...T) error {
	for _, v := range all {
		if v.String() == string(word) {
			*to = v
			return nil
		}
	}
	return fmt.Errorf("cell: %.20q is no state: want one of %v", word, all)
}
