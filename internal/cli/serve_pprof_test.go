// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"net/http"
	"path/filepath"
	"testing"
)

func TestServe_PprofIsAsked(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]int{"--pprof": http.StatusOK, "--pprof=false": http.StatusNotFound} {
		s := launch(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--addr", "127.0.0.1:0", flag)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/debug/pprof/heap", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Body.Close(); a.StatusCode != want {
			t.Errorf("%s: %d", flag, a.StatusCode)
		}
	}
}
