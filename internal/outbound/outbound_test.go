// SPDX-License-Identifier: Apache-2.0

package outbound_test

import (
	"testing"

	"github.com/locus-db/locus/internal/outbound"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{
		"https://crm.example/locus": true, "http://localhost:8080/x": true, "http://127.0.0.1/": true,
		"http://[::1]:9/":     true,
		"http://crm.example/": false, "http://127.0.0.1.example/": false, "http://10.0.0.1/": false,
		"https://u:p@crm.example/": false,
		"ftp://crm.example/":       false, "https:///x": false, "crm.example": false, "https://crm.example/#a": false,
		"https://%zz": false,
	} {
		if _, err := outbound.Check(url); (err == nil) != good {
			t.Errorf("%s: %v", url, err)
		}
	}
}
