// SPDX-License-Identifier: Apache-2.0

package cli

import "testing"

func TestWithArticle(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"person": "a person", "album": "an album"} {
		if got := withArticle(kind); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
