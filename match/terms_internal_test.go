// SPDX-License-Identifier: Apache-2.0

package match

import "testing"

// A name is as rare as among all records, also if only a sample of them was counted, and after the table was stored.
func TestTerms_OfASampleAreForAll(t *testing.T) {
	t.Parallel()
	p := &TermFrequencies{records: 1000, tokens: map[uint64]uint32{1: 7}}
	p.finish()
	whole, hash := p.onlyName, p.hash
	p.sampled(1)
	if p.onlyName != whole || p.hash != hash {
		t.Errorf("all records are counted: %v, %x, want %v, %x", p.onlyName, p.hash, whole, hash)
	}
	p.sampled(8)
	if want := aboveChance(8000); p.onlyName != want || p.hash == hash {
		t.Errorf("a sample of one in eight: %v, want %v", p.onlyName, want)
	}
	stored := &TermFrequencies{records: p.records, tokens: p.tokens}
	stored.finish()
	if stored.onlyName != p.onlyName {
		t.Errorf("stored: %v, want %v", stored.onlyName, p.onlyName)
	}
}
