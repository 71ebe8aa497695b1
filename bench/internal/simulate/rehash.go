// SPDX-License-Identifier: Apache-2.0

package simulate

// rehash counts the rows that change cells when the number of cells becomes that of the next generation and all
// rows are redistributed.
func (s *simulation) rehash() Rehash {
	h := Rehash{Cells: s.gens[len(s.gens)-1].Cells}
	for g := 1; g < len(s.gens); g++ {
		r, before, after := s.rand("rehash", g), s.gens[g-1].Cells, s.gens[g].Cells
		var jumped, cut int
		for range SampleSize {
			hash := r.Uint64()
			if jump(hash, before) != jump(hash, after) {
				jumped++
			}
			// The first piece of a range stays where the range was.
			if position := hash >> 32; position*after>>32%(after/before) != 0 {
				cut++
			}
		}
		rows := float64(s.before(g)) / SampleSize
		h.JumpRows += int64(rows * float64(jumped))
		h.RangeRows += int64(rows * float64(cut))
	}
	h.JumpBytes, h.RangeBytes = float64(h.JumpRows)*float64(s.RecordBytes), float64(h.RangeRows)*float64(s.RecordBytes)
	return h
}

// jump is the jump consistent hash of Lamping and Veach (2014).
func jump(key, buckets uint64) uint64 {
	b, j := int64(-1), int64(0)
	for j < int64(buckets) {
		b = j
		key = key*2862933555777941757 + 1
		j = int64(float64(b+1) * (float64(1<<31) / float64(key>>33+1)))
	}
	return uint64(b)
}
