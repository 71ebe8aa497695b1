// SPDX-License-Identifier: Apache-2.0

package mirrortest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/mirrortest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// flawed is a target with at most one bug that an implementation could have.
type flawed struct {
	*mirrortest.Model
	bug string
}

func (f *flawed) Write(ctx context.Context, docs []mirror.Document) (int, error) {
	docs = slices.Clone(docs)
	for i := range docs {
		d := &docs[i]
		switch f.bug {
		case "the version is not asked":
			f.Put(*d)
		case "what is not there is written at any version":
			if there, _ := f.Documents(ctx, []locality.ID{d.ID}); len(there) == 0 {
				f.Put(*d)
			}
		case "content stays":
			if there, _ := f.Documents(ctx, []locality.ID{d.ID}); len(there) == 1 && d.Thing == nil {
				d.Thing = there[0].Thing
			}
		case "numbers of 53 bits":
			if d.Thing != nil {
				thing := *d.Thing
				thing.Stamp = uint64(float64(thing.Stamp>>12)) << 12
				d.Thing = &thing
			}
		case "the place is forgotten":
			d.At = 0
		case "names are trimmed":
			if d.Thing != nil {
				thing := *d.Thing
				thing.Attributes = slices.Clone(thing.Attributes)
				for j := range thing.Attributes {
					thing.Attributes[j].Name = strings.Trim(thing.Attributes[j].Name, "\x00$")
				}
				d.Thing = &thing
			}
		}
	}
	switch f.bug {
	case "one that is late ends the batch":
		for i := range docs {
			if n, _ := f.Model.Write(ctx, docs[i:i+1]); n == 0 {
				return i, nil
			}
		}
		return len(docs), nil
	case "long batches are cut":
		docs = docs[:min(len(docs), 250)]
	case "all are said to be written":
		_, err := f.Model.Write(ctx, docs)
		return len(docs), err
	}
	return f.Model.Write(ctx, docs)
}

func (f *flawed) Scan(ctx context.Context, after locality.ID, limit int) ([]mirror.Document, error) {
	docs, err := f.Model.Scan(ctx, after, limit)
	if f.bug == "bytes are signed" {
		slices.SortFunc(docs, func(a, b mirror.Document) int { return int(int8(a.ID[0])) - int(int8(b.ID[0])) })
	}
	return docs, err
}

func (f *flawed) Held(ctx context.Context, ids []locality.ID) ([]mirror.Held, error) {
	list, err := f.Model.Held(ctx, ids)
	if f.bug == "what is not there is left out" {
		list = slices.DeleteFunc(list, func(h mirror.Held) bool { return h.Version == 0 })
	}
	return list, err
}

func (f *flawed) PutControl(ctx context.Context, was, is mirror.Control) (bool, error) {
	switch f.bug {
	case "the filling is not asked":
		there, _ := f.Controls(ctx)
		for _, c := range there {
			if c.Cell == is.Cell && c.Version == was.Version {
				was.Fill = c.Fill
			}
		}
	case "settling ids are forgotten":
		is.Settling = nil
	}
	return f.Model.PutControl(ctx, was, is)
}

func (f *flawed) PutFill(ctx context.Context, was, is mirror.Fill) (bool, error) {
	if f.bug == "the last fill stays" {
		was, _ = f.Fill(ctx)
	}
	return f.Model.PutFill(ctx, was, is)
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	mirrortest.Run(t, func(*testing.T) mirror.Target { return mirrortest.NewModel() })
}

// TestRun_FindsEveryBug plants one bug at a time; the case meant for it must find it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	mirrortest.Cases.FindsEveryBug(t, func(_ *testing.T, bug string) mirror.Target {
		return &flawed{mirrortest.NewModel(), bug}
	}, conformance.Bugs{ByCase: map[string]string{
		"the version is not asked":                    "WhoComesLateWritesNothing",
		"what is not there is written at any version": "WhoComesLateWritesNothing",
		"all are said to be written":                  "RepeatsChangeNothing",
		"one that is late ends the batch":             "OthersOfABatchAreWritten",
		"content stays":                               "NothingIsLeftOfContent",
		"numbers of 53 bits":                          "DocumentsComeBackWhole",
		"the place is forgotten":                      "DocumentsComeBackWhole",
		"what is not there is left out":               "NothingIsThere",
		"names are trimmed":                           "HostileNames",
		"bytes are signed":                            "ScanInPages",
		"long batches are cut":                        "HundredsOfDocuments",
		"the filling is not asked":                    "LateControlsAreRefused",
		"the last fill stays":                         "LateFillsAreRefused",
		"settling ids are forgotten":                  "ControlsComeBackWhole",
	}})
}
