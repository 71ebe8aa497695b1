// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// UnmarshalText parses the text of String.
func (o *Outcome) UnmarshalText(text []byte) error {
	i := slices.Index(outcomes[:], string(text))
	if i < 0 {
		return fmt.Errorf("match: %.40q is no outcome", text)
	}
	*o = Outcome(i)
	return nil
}

// UnmarshalText parses the text of String.
func (k *FeatureKind) UnmarshalText(text []byte) error {
	if i := slices.Index(featureKinds[:], string(text)); i > 0 {
		*k = FeatureKind(i)
		return nil
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(string(text), "feature "), 10, 8)
	if err != nil {
		return fmt.Errorf("match: %.40q is no kind of features", text)
	}
	*k = FeatureKind(n)
	return nil
}
