// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/locus-db/locus/internal/problem"
)

// ErrID means that a text is not the name of a cell.
var ErrID = problem.Class(problem.ErrInvalid, "cell: malformed cell name: want generation and index like g1-19")

// ID names a cell: the Index-th of the cells that generation Gen added, both from 0. It is comparable; the zero value
// is g0-0, which every map has.
type ID struct {
	Gen   uint16
	Index uint32
}

// ParseID parses exactly the format of String: no sign, no leading zero. The error is ErrID with the text in it.
func ParseID(s string) (ID, error) {
	rest, okG := strings.CutPrefix(s, "g")
	gen, index, okI := strings.Cut(rest, "-")
	g, errG := strconv.ParseUint(gen, 10, 16)
	i, errI := strconv.ParseUint(index, 10, 32)
	id := ID{Gen: uint16(g), Index: uint32(i)}
	if !okG || !okI || errG != nil || errI != nil || id.String() != s {
		return ID{}, fmt.Errorf("%w, not %.40q", ErrID, s)
	}
	return id, nil
}

// String returns the name of the cell, such as g1-19.
func (id ID) String() string {
	b, _ := id.AppendText(make([]byte, 0, len("g65535-4294967295")))
	return string(b)
}

// AppendText appends the name of the cell to b; its error is always nil.
func (id ID) AppendText(b []byte) ([]byte, error) {
	b = strconv.AppendUint(append(b, 'g'), uint64(id.Gen), 10)
	return strconv.AppendUint(append(b, '-'), uint64(id.Index), 10), nil
}

// MarshalText returns the name of the cell; its error is always nil.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText parses like ParseID. After an error id is unchanged.
func (id *ID) UnmarshalText(b []byte) error {
	parsed, err := ParseID(string(b))
	if err == nil {
		*id = parsed
	}
	return err
}

// Compare orders cells by generation, then index.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(id.Gen, other.Gen), cmp.Compare(id.Index, other.Index))
}
