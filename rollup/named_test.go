// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locus-db/locus/rollup"
)

func TestParseNamed(t *testing.T) {
	t.Parallel()
	const rest = "kind: place\ngroup: tags\n"
	for _, text := range []string{rest, "rollup: x\n" + rest, `{"kind": "place", "group": ["tags"]}`} {
		if d, err := rollup.ParseNamed("x", []byte(text)); err != nil || d.Name != "x" {
			t.Errorf("%q: %+v, %v", text, d, err)
		}
	}
	for text, want := range map[string]string{
		rest + "rollup: y\n":                `line 3, rollup: the text says "y", the address "x"`,
		rest + "rollup:\n":                  "line 3, rollup: want one value",
		rest + "rollup: ''\n":               "line 3, rollup: want a name",
		"rollup: y\nkind: place\nrows: 1\n": "no such word",
	} {
		_, err := rollup.ParseNamed("x", []byte(text))
		if invalid, ok := errors.AsType[*rollup.InvalidError](err); !ok || !strings.Contains(invalid.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := rollup.Parse([]byte(rest)); err == nil {
		t.Error("a definition without a name")
	}
}
