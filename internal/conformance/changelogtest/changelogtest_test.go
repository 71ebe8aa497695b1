// SPDX-License-Identifier: Apache-2.0

package changelogtest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/changelogtest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// log is the model with at most one bug that a backend could have.
type log struct {
	changelog.Store
	bug string
	// trimmed is not rolled back.
	trimmed *changelog.Seq
}

func (l log) Append(ctx context.Context, changes []changelog.Change) error {
	switch {
	case l.bug == "empty appends fail" && len(changes) == 0:
		return fmt.Errorf("no rows")
	case l.bug == "long batches are cut" && len(changes) > 999:
		changes = changes[:999]
	case l.bug == "the context is not asked":
		ctx = context.Background()
	}
	return l.Store.Append(ctx, changes)
}

func (l log) Changes(ctx context.Context, after changelog.Seq, limit int) ([]changelog.Change, error) {
	switch l.bug {
	case "after is included":
		after--
	case "limit is not kept":
		limit = 1 << 20
	}
	b, _ := l.Store.Bounds(ctx)
	switch {
	case l.bug == "trimmed changes are passed over":
		after = max(after, b.Trimmed)
	case l.bug == "before the beginning is trimmed" && after < b.Trimmed:
		return nil, changelog.ErrTrimmed
	}
	changes, err := l.Store.Changes(ctx, after, limit)
	for i := range changes {
		c := &changes[i]
		switch l.bug {
		case "numbers stand still":
			c.Seq = 1
		case "seconds only":
			c.Time = c.Time.Truncate(time.Second)
		case "local time":
			c.Time = c.Time.In(time.FixedZone("", 3600))
		case "causes are lost":
			c.Cause = ""
		case "successors are lost":
			c.Into = locality.ID{}
		case "images are lost":
			c.Was, c.Is = nil, nil
		case "images are swapped":
			c.Was, c.Is = c.Is, c.Was
		case "no image is an empty one":
			if c.Was == nil {
				c.Was = &changelog.Image{}
			}
		case "an empty image is none":
			if c.Is != nil && len(c.Is.Sources)+len(c.Is.Attributes) == 0 {
				c.Is = nil
			}
		case "images without outcome", "images of one value", "images of ASCII":
			c.Was = spoil(c.Was, l.bug)
		case "numbers begin anew after trimming":
			c.Seq -= b.Trimmed
		case "numbers of 53 bits":
			c.Before = slices.Clone(c.Before)
			for k := range c.Before {
				c.Before[k].PUID = entity.PUID(float64(c.Before[k].PUID))
			}
		}
	}
	if l.bug == "newest first" && len(changes) > 1 {
		changes[0], changes[1] = changes[1], changes[0]
	}
	return changes, err
}

// spoil returns an image as a log with the bug stores it.
func spoil(im *changelog.Image, bug string) *changelog.Image {
	if im == nil {
		return nil
	}
	spoilt := *im
	spoilt.Attributes = entity.Attributes{}
	for name, values := range im.Attributes {
		switch {
		case bug == "images of one value" && len(values) > 0:
			values = values[:1]
		case bug == "images of ASCII":
			name = strings.Map(func(r rune) rune { return r & 0x7f }, name)
		}
		spoilt.Attributes[name] = values
	}
	if bug == "images without outcome" {
		spoilt.Outcome = ""
	}
	return &spoilt
}

func (l log) Bounds(ctx context.Context) (changelog.Bounds, error) {
	b, err := l.Store.Bounds(ctx)
	switch {
	case l.bug == "the last number is the next":
		b.Last++
	case l.bug == "the last number is that of a change" && b.Last == b.Trimmed:
		b.Last = 0
	case l.bug == "bounds are those before" && b.Last > 0:
		b.Last--
	case l.bug == "trimmed is not told":
		b.Trimmed = 0
	case l.bug == "trimming is not rolled back":
		b.Trimmed = max(b.Trimmed, *l.trimmed)
	}
	return b, err
}

func (l log) Trim(ctx context.Context, upTo changelog.Seq, limit int) (int, error) {
	b, err := l.Store.Bounds(ctx)
	switch l.bug {
	case "trims without limit":
		limit = 1 << 20
	case "trims below":
		upTo = max(upTo, 1) - 1
	case "trims everything":
		upTo = b.Last
	case "trims nothing":
		return 0, err
	case "trims nothing that is ahead":
		if upTo > b.Last {
			return 0, err
		}
	case "trims by a number too many":
		n, err := l.Store.Trim(ctx, upTo, limit)
		return n + 1, err
	case "trimming is not rolled back":
		*l.trimmed = upTo
	}
	return l.Store.Trim(ctx, upTo, limit)
}

func open(_ *testing.T, bug string) changelogtest.Cell {
	var trimmed changelog.Seq
	return changelogtest.Memory(func(s changelog.Store) changelog.Store { return log{s, bug, &trimmed} }, bug)
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	changelogtest.Run(t, func(t *testing.T) changelogtest.Cell { t.Helper(); return open(t, "") })
}

// TestRun_FindsEveryBug plants one bug at a time; the case meant for it must find it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	changelogtest.Cases.FindsEveryBug(t, open, conformance.Bugs{
		ByCase: map[string]string{
			"empty appends fail":       "EmptyLog",
			"long batches are cut":     "ThousandChanges",
			"after is included":        "InPages",
			"limit is not kept":        "InPages",
			"numbers stand still":      "NumbersRise",
			"seconds only":             "ComeBackWhole",
			"local time":               "ComeBackWhole",
			"successors are lost":      "ComeBackWhole",
			"causes are lost":          "ComeBackWhole",
			"numbers of 53 bits":       "ComeBackWhole",
			"newest first":             "NumbersRise",
			"rollback keeps rows":      "RollbackLeavesNothing",
			"error is swallowed":       "RollbackLeavesNothing",
			"nothing is kept":          "SurvivesReopening",
			"the context is not asked": "CancelledContext",

			"images are lost":          "ImagesComeBackWhole",
			"images are swapped":       "ImagesComeBackWhole",
			"no image is an empty one": "ImagesComeBackWhole",
			"an empty image is none":   "ImagesComeBackWhole",
			"images without outcome":   "ImagesComeBackWhole",
			"images of one value":      "ImagesComeBackWhole",
			"images of ASCII":          "ImagesComeBackWhole",

			"the last number is the next":         "BoundsOfTheLog",
			"the last number is that of a change": "NeverTrimsAhead",
			"bounds are those before":             "SeesItsOwnWrites",
			"trimmed is not told":                 "TrimsTheOldest",
			"trims without limit":                 "TrimsTheOldest",
			"trims below":                         "TrimsTheOldest",
			"trims everything":                    "TrimsTheOldest",
			"trims by a number too many":          "TrimsTheOldest",
			"trims nothing":                       "TrimmedIsAnError",
			"trimmed changes are passed over":     "TrimmedIsAnError",
			"before the beginning is trimmed":     "InPages",
			"trimming is not rolled back":         "TrimmingRollsBack",
			"trims nothing that is ahead":         "NeverTrimsAhead",
			"numbers begin anew after trimming":   "NeverTrimsAhead",
		},
		ByModel: []string{
			"after is included", "limit is not kept", "successors are lost", "newest first", "rollback keeps rows",
			"error is swallowed", "images are swapped", "an empty image is none", "trims without limit", "trims below",
			"trimmed changes are passed over", "trimmed is not told", "bounds are those before",
		},
		Tries: 1,
	})
}
