// SPDX-License-Identifier: Apache-2.0

package document

import (
	"encoding/json"
	"time"

	"github.com/locus-db/locus/entity"
)

// Decision is the text of a decision, but for when it was made, which is a column.
func Decision(d entity.Decision) (string, error) {
	d.At = time.Time{}
	text, err := json.Marshal(&d)
	return string(text), err
}

// ParseDecision reads what Decision writes.
func ParseDecision(text string, at int64) (d entity.Decision, err error) {
	err = json.Unmarshal([]byte(text), &d)
	d.At = time.UnixMilli(at).UTC()
	return d, err
}
