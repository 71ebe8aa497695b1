// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/locus-db/locus/entity"
)

// from is the records of a source behind a value.
type from struct {
	Source  string
	Numbers []int
	Left    int // numbers left out
}

// maxBy is how many records of a source are numbered behind a value.
const maxBy = 12

// bySource groups the records behind a value by source, in the order of the records.
func bySource(members []int, records []*entity.Record) (all []from) {
	at := map[string]int{}
	for _, m := range members {
		if m < 0 || m >= len(records) {
			continue
		}
		source := records[m].Source
		if _, known := at[source]; !known {
			at[source] = len(all)
			all = append(all, from{Source: source})
		}
		if f := &all[at[source]]; len(f.Numbers) < maxBy {
			f.Numbers = append(f.Numbers, m+1)
		} else {
			f.Left++
		}
	}
	return all
}

// wonBecause returns why the first value of an attribute leads; "" if it has no competitor.
func wonBecause(a entity.MergedAttribute, many bool, supports []entity.Support) string {
	switch first := a.Values[0]; {
	case first.Pinned:
		return "a person pinned it"
	case many || len(a.Values) == 1 || len(supports) != len(a.Values): // nothing competes with it, or it is not known
		return ""
	case supports[0].Led:
		return "it belongs to the address with the most weight"
	case supports[0].Weight > supports[1].Weight:
		return fmt.Sprintf("its weight is %s, that of the next one %s", heft(supports[0].Weight), heft(supports[1].Weight))
	default:
		return "it has the same weight as the next one; a hash decides"
	}
}

// heft formats the weight of a value.
func heft(w float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(w, 'f', 2, 64), ".00")
}
