// SPDX-License-Identifier: Apache-2.0

package changelog_test

import (
	"encoding/json"
	"errors"
	"github.com/locus-db/locus/changelog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/problem"
)

func TestWatermark_Text(t *testing.T) {
	t.Parallel()
	w := changelog.Watermark{{Gen: 1, Index: 2}: 5, {}: 17, {Index: 3}: 0}
	const text = "g0-0:17,g0-3:0,g1-2:5"
	if got := w.String(); got != text {
		t.Errorf("it is written %q, want %q", got, text)
	}
	for _, s := range []string{text, "g1-2:5,g0-0:17,g0-3:0"} {
		got, err := changelog.ParseWatermark(s)
		if diff := cmp.Diff(w, got); diff != "" || err != nil {
			t.Errorf("%q is read with %v (-want +got):\n%s", s, err, diff)
		}
	}
	var back struct{ At changelog.Watermark }
	if err := json.Unmarshal([]byte(`{"At":"`+text+`"}`), &back); err != nil || back.At.String() != text {
		t.Errorf("from JSON it is %v, %v", back.At, err)
	}
	if got, err := changelog.ParseWatermark(""); err != nil || len(got) != 0 {
		t.Errorf("nothing is read as %v, %v", got, err)
	}
	for _, s := range []string{"17", "g0-0", "g0-0:", "g0-0:-1", "g0-0:+1", "g0-0:01", "g0-0:1,", ",g0-0:1", "g0-0:1,g0-0:2", "g0-0:9223372036854775808", " g0-0:1"} {
		var invalid *problem.InvalidError
		if got, err := changelog.ParseWatermark(s); !errors.As(err, &invalid) {
			t.Errorf("%q is read as %v, %v", s, got, err)
		}
	}
}

func TestWatermark_Order(t *testing.T) {
	t.Parallel()
	a, b := cell.ID{}, cell.ID{Index: 1}
	v, w := changelog.Watermark{a: 1, b: 5}, changelog.Watermark{a: 3}
	u := v.Union(w)
	if diff := cmp.Diff(changelog.Watermark{a: 3, b: 5}, u); diff != "" {
		t.Errorf("union (-want +got):\n%s", diff)
	}
	if v[a] != 1 {
		t.Error("Union changed what it was called on")
	}
	if !u.Contains(v) || !u.Contains(w) || w.Contains(v) || v.Contains(w) || !u.Contains(nil) ||
		changelog.Watermark(nil).Contains(w) {
		t.Error("what contains what")
	}
	if got := changelog.Watermark(nil).Union(w); !got.Contains(w) {
		t.Errorf("union of nothing is %v", got)
	}
}
