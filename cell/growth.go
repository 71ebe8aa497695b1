// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"fmt"
	"slices"
)

// Append returns nil if next may follow old as the next version of the same map, otherwise ErrMap with the reason. A
// valid successor changes no route of old: generations are only added, and only for IDs dated from old's Until on,
// which no process can have minted or routed yet.
func Append(old, next *Map) error {
	o, n := old.spec, next.spec
	switch {
	case n.ID != o.ID || n.Salt != o.Salt:
		return fmt.Errorf("%w: map %s cannot follow map %s: id and salt never change", ErrMap, n.ID, o.ID)
	case n.Epoch != o.Epoch+1:
		return fmt.Errorf("%w: epoch %d cannot follow %d: read the newest map and begin again", ErrMap, n.Epoch, o.Epoch)
	case len(n.Generations) < len(o.Generations):
		return fmt.Errorf("%w: generation %d is missing: generations are only ever added", ErrMap, len(n.Generations))
	case n.Current < o.Current:
		return fmt.Errorf("%w: current generation %d is lower than %d", ErrMap, n.Current, o.Current)
	case n.Floor < o.Floor:
		return fmt.Errorf("%w: floor %d is lower than %d: keys below it are gone", ErrMap, n.Floor, o.Floor)
	case next.until != 0 && old.until == 0:
		return fmt.Errorf("%w: until cannot be added while servers route with the map: stop every server and deploy a map with until", ErrMap)
	case next.until != 0 && next.until < old.until:
		return fmt.Errorf("%w: until decreases, but ids up to the previous until may exist", ErrMap)
	}
	for i, was := range o.Generations {
		is := n.Generations[i]
		if is.Cells != was.Cells || !is.Starts.Equal(was.Starts) || !slices.Equal(is.URLs, was.URLs) {
			return fmt.Errorf("%w: generation %d changed: generations are only added, and the database of a cell changes in \"moved\"", ErrMap, i)
		}
	}
	for i := len(o.Generations); i < len(n.Generations); i++ {
		if old.until == 0 {
			return fmt.Errorf("%w: generation %d cannot follow a map without until, with which ids of any time may have been routed: stop every server and deploy a map with until first", ErrMap, i)
		}
		if starts := n.Generations[i].Starts; starts.UnixMilli() < old.until {
			return fmt.Errorf("%w: generation %d starts at %v, before the old map ends at %v", ErrMap, i, starts, o.Until)
		}
	}
	return nil
}
