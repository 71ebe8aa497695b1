// SPDX-License-Identifier: Apache-2.0

package document

import (
	"encoding/json"
	"time"

	"github.com/locus-db/locus/entity"
)

// Decision returns the text of a decision without its time, which is a column.
func Decision(d entity.Decision) (string, error) {
	d.At = time.Time{}
	text, err := json.Marshal(&d)
	return string(text), err
}

// ParseDecision parses the output of Decision.
func ParseDecision(text string, at int64) (d entity.Decision, err error) {
	err = json.Unmarshal([]byte(text), &d)
	d.At = time.UnixMilli(at).UTC()
	return d, err
}
