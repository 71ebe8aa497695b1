// SPDX-License-Identifier: Apache-2.0

package console

import (
	"slices"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// maxEvents is how many changes the page of an entity shows.
const maxEvents = 50

// event is a change of an entity as a row.
type event struct {
	Time          stamp
	What          string
	Cause         string
	Before, After []mention
	Of            string // the entity it happened to, if not this one
	Into          string // what the id of a retired entity resolves to
}

// happened describes the kinds of changes.
var happened = map[changelog.Kind]string{
	changelog.Created:  "created",
	changelog.Changed:  "changed",
	changelog.Merged:   "merged records of another entity",
	changelog.Split:    "split",
	changelog.Retired:  "merged into another entity",
	changelog.Put:      "record put",
	changelog.Deleted:  "record deleted",
	changelog.Assigned: "record moved to another entity",
}

// causes describes the causes of changes.
var causes = map[changelog.Cause]string{
	changelog.CausePut:      "put",
	changelog.CauseDelete:   "delete",
	changelog.CauseDecision: "decision",
	changelog.CauseRedo:     "redo of unfinished work",
	changelog.CauseTerms:    "changed rules",
}

// events returns the changes of an entity and its records, the newest first, and how many older ones are omitted.
func events(all []changes.Change, own locality.ID, records []*entity.Record) (lines []event, left int) {
	numbers := make(map[entity.PUID]int, len(records))
	for i, r := range records {
		numbers[r.PUID] = i + 1
	}
	for _, c := range slices.Backward(all) {
		if len(lines) == maxEvents {
			return lines, len(all) - maxEvents
		}
		e := event{Time: stamp(c.Time), What: happened[c.Kind], Cause: causes[c.Cause], Before: members(c.Before, numbers),
			After: members(c.After, numbers)}
		if e.What == "" {
			e.What = string(c.Kind)
		}
		if !c.Kind.OfRecord() && c.Entity != own {
			e.Of = c.Entity.String()
		}
		if !c.Into.IsZero() && c.Into != own {
			e.Into = c.Into.String()
		}
		lines = append(lines, e)
	}
	return lines, 0
}

func members(versions []changelog.Version, numbers map[entity.PUID]int) []mention {
	var all []mention
	for _, v := range versions[:min(len(versions), maxNamed)] {
		all = append(all, mention{Number: numbers[v.PUID], Text: v.PUID.String()})
	}
	if left := len(versions) - maxNamed; left > 0 {
		all = append(all, mention{Text: "and " + count(int64(left)) + " more"})
	}
	return all
}
