// SPDX-License-Identifier: Apache-2.0

package counter

import "slices"

// dayValues returns the minutes of a day, and whether any is not zero.
func dayValues(kind Kind, fine [][]int64) (values []int64, count bool) {
	width := dayMinutes / len(fine)
	if kind == Gauge {
		width *= Reading
	}
	values = make([]int64, len(fine)*width)
	for i, part := range fine {
		copy(values[i*width:(i+1)*width], part)
	}
	return values, slices.ContainsFunc(values, func(v int64) bool { return v != 0 })
}

// sumsAre reports whether the minutes of a day add up to its bucket.
func sumsAre(kind Kind, open, minutes []int64) bool {
	if kind == Gauge {
		for hour := range 24 {
			var sum reading
			err := sum.fold(minutes[hour*60*Reading : (hour+1)*60*Reading])
			is := open[hour*Reading : (hour+1)*Reading]
			// The last reading is the one of the latest minute, which may differ from the hour's.
			if err != nil || !slices.Equal(sum[:ReadingLast], is[:ReadingLast]) {
				return false
			}
		}
		return true
	}
	var total int64
	for q := range 96 {
		var sum int64
		for _, v := range minutes[q*15 : (q+1)*15] {
			sum += v
		}
		total += sum
		if sum != open[DayQuarter(q)] {
			return false
		}
	}
	return total == open[DayTotal]
}

// coarsen sums minutes to quarters or a day, or quarters to a day. The error is ErrRange.
func coarsen(kind Kind, values []int64, from, to Detail) ([]int64, error) {
	each := from.length() / to.length()
	if kind == Counter {
		out := make([]int64, to.length())
		for i, v := range values {
			if err := plus(&out[i/each], v, nil); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	out := make([]int64, 0, to.length()*Reading)
	for ; len(values) > 0; values = values[each*Reading:] {
		var sum reading
		if err := sum.fold(values[:each*Reading]); err != nil {
			return nil, err
		}
		out = append(out, sum[:]...)
	}
	return out, nil
}

// join adds later values one by one. The error is ErrRange.
func join(kind Kind, to, later []int64) error {
	if kind == Counter {
		for i, v := range later {
			if err := plus(&to[i], v, nil); err != nil {
				return err
			}
		}
		return nil
	}
	for ; len(to) > 0; to, later = to[Reading:], later[Reading:] {
		r := reading(to[:Reading])
		if err := r.join(later[:Reading]); err != nil {
			return err
		}
		copy(to, r[:])
	}
	return nil
}
