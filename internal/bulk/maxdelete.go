// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxDelete limits how many records of a source a snapshot may delete. The zero value means 10 % of them, but at least
// 100.
type MaxDelete struct {
	said    bool
	count   int64
	percent float64 // if not 0
}

// The default of MaxDelete.
const (
	defaultPercent = 10
	defaultLeast   = 100
)

// ParseMaxDelete parses a number of records or a share such as 10% or 2.5%. "" means the default.
func ParseMaxDelete(text string) (MaxDelete, error) {
	m := MaxDelete{said: text != ""}
	var err error
	switch percent, share := strings.CutSuffix(text, "%"); {
	case !m.said:
	case share:
		m.percent, err = strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if !(m.percent >= 0 && m.percent <= 100) { // not a number is refused, too
			err = strconv.ErrRange
		}
	default:
		if m.count, err = strconv.ParseInt(text, 10, 64); m.count < 0 {
			err = strconv.ErrRange
		}
	}
	if err != nil {
		return MaxDelete{}, fmt.Errorf("%.40q is neither a number of records, such as 500, nor a share from 0%% to 100%%", text)
	}
	return m, nil
}

// Of returns how many of the stored records may be deleted.
func (m MaxDelete) Of(stored int64) int64 {
	share := func(percent float64) int64 { return int64(math.Floor(float64(stored) * percent / 100)) }
	switch {
	case !m.said:
		return max(share(defaultPercent), defaultLeast)
	case m.percent > 0:
		return share(m.percent)
	}
	return m.count
}

// String describes the limit.
func (m MaxDelete) String() string {
	switch {
	case !m.said:
		return fmt.Sprintf("%d %%, at least %d", defaultPercent, defaultLeast)
	case m.percent > 0:
		return strconv.FormatFloat(m.percent, 'f', -1, 64) + " %"
	}
	return strconv.FormatInt(m.count, 10)
}
