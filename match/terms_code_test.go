// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/match"
)

func bytesOf(t interface{ Fatal(...any) }, p *match.TermFrequencies) []byte {
	b, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTerms_ReadsWhatItWrote(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := match.DefaultTermFrequencies()
		if rapid.Bool().Draw(t, "counted") {
			var records []match.Attributes
			for range rapid.IntRange(0, 40).Draw(t, "records") {
				records = append(records, attributes(t, "record"))
			}
			p = build(append(records, records...))
		}
		b := bytesOf(t, p)
		var q match.TermFrequencies
		if err := q.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if q.Hash() != p.Hash() || q.Records() != p.Records() || q.Tokens() != p.Tokens() || q.Chains() != p.Chains() {
			t.Fatalf("a term-frequency table is another one after it was written and read")
		}
		if !bytes.Equal(bytesOf(t, &q), b) {
			t.Fatal("the same term-frequency table, other bytes")
		}
		bad := bytes.Clone(b)
		bad[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if err := q.UnmarshalBinary(bad); err == nil && q.Hash() != p.Hash() {
			t.Fatal("damaged bytes are another pack")
		} else if err != nil && !errors.Is(err, match.ErrTermFrequencies) {
			t.Fatal(err)
		}
	})
}

func FuzzPack(f *testing.F) {
	f.Add(bytesOf(f, match.DefaultTermFrequencies()))
	f.Add(bytesOf(f, build([]match.Attributes{{"name": {"Joes Pizza"}}, {"name": {"Pizza"}}})))
	f.Add([]byte("locus-pack/1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p match.TermFrequencies
		if err := p.UnmarshalBinary(b); err != nil {
			if !errors.Is(err, match.ErrTermFrequencies) {
				t.Fatal(err)
			}
			return
		}
		var q match.TermFrequencies
		if err := q.UnmarshalBinary(bytesOf(t, &p)); err != nil || q.Hash() != p.Hash() {
			t.Fatalf("%016x became %016x: %v", p.Hash(), q.Hash(), err)
		}
	})
}
