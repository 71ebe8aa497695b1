// SPDX-License-Identifier: Apache-2.0

package httpapi

import "testing"

func TestFlatPointer(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/records/7/attributes/phones/0": "/phones/0",
		"/records/7/attributes":          "",
		"/attributes/phones/0":           "/phones/0",
		"/attributes":                    "",
		"/attributesque":                 "/attributesque",
		"/records/7/key":                 "/key",
		"/records/7":                     "",
		"":                               "",
		"/name":                          "/name",
	} {
		if got := flatPointer(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
