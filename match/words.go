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
func (k *KeyKind) UnmarshalText(text []byte) error {
	if i := slices.Index(keyKinds[:], string(text)); i > 0 {
		*k = KeyKind(i)
		return nil
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(string(text), "blocking key "), 10, 8)
	if err != nil {
		return fmt.Errorf("match: %.40q is no kind of blocking keys", text)
	}
	*k = KeyKind(n)
	return nil
}
