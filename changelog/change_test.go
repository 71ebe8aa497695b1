// SPDX-License-Identifier: Apache-2.0

package changelog_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

func TestChange_JSON(t *testing.T) {
	t.Parallel()
	id := locality.MustParse("20be0ffc-314a-bd53-7a50-013a65ca76d2")
	at := time.Date(2026, 11, 20, 12, 0, 0, 5e6, time.UTC)
	for name, c := range map[string]struct {
		change changelog.Change
		want   string
	}{
		"a put": {
			changelog.Change{Seq: math.MaxInt64, Time: at, Kind: changelog.Put, Entity: id,
				After: []changelog.Version{{PUID: math.MinInt64, Version: 1}}},
			`{"seq":"9223372036854775807","time":"2026-11-20T12:00:00.005Z","kind":"put","entity":"20be0ffc-314a-bd53-7a50-013a65ca76d2","after":[{"puid":"-9223372036854775808","version":1}]}`,
		},
		"a retirement": {
			changelog.Change{Seq: 1, Time: at, Kind: changelog.Retired, Entity: id, Into: locality.Max(),
				Before: []changelog.Version{{PUID: 7, Version: 2}}},
			`{"seq":"1","time":"2026-11-20T12:00:00.005Z","kind":"retired","entity":"20be0ffc-314a-bd53-7a50-013a65ca76d2","into":"ffffffff-ffff-ffff-ffff-ffffffffffff","before":[{"puid":"7","version":2}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(c.change)
			if err != nil || string(got) != c.want {
				t.Errorf("JSON is\n%s, %v\nwant\n%s", got, err, c.want)
			}
		})
	}
}

func TestChange_SurvivesJSON(t *testing.T) {
	t.Parallel()
	versions := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) changelog.Version {
		return changelog.Version{PUID: entity.PUID(rapid.Int64().Draw(t, "puid")), Version: rapid.Int64().Draw(t, "version")}
	}), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		want := changelog.Change{
			Seq:    changelog.Seq(rapid.Int64().Draw(t, "seq")),
			Time:   time.UnixMilli(rapid.Int64Range(0, 1<<47).Draw(t, "time")).UTC(),
			Kind:   rapid.SampledFrom([]changelog.Kind{changelog.Put, changelog.Merged}).Draw(t, "kind"),
			Before: versions.Draw(t, "before"), After: versions.Draw(t, "after"),
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got changelog.Change
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	})
}
