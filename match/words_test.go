// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"testing"

	"github.com/locus-db/locus/match"
)

func TestWordsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for o := match.Different; o <= match.CoLocated; o++ {
		var read match.Outcome
		if err := read.UnmarshalText([]byte(o.String())); err != nil || read != o {
			t.Errorf("%v is read as %v, %v", o, read, err)
		}
	}
	for k := match.KeyKind(1); k < 40; k++ {
		var read match.KeyKind
		if err := read.UnmarshalText([]byte(k.String())); err != nil || read != k {
			t.Errorf("%v is read as %v, %v", k, read, err)
		}
	}
	if new(match.Outcome).UnmarshalText([]byte("perhaps")) == nil || new(match.KeyKind).UnmarshalText([]byte("blocking key 256")) == nil || new(match.KeyKind).UnmarshalText(nil) == nil {
		t.Error("a word of no spelling is read")
	}
}
