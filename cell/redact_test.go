// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"

	"github.com/locus-db/locus/cell"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":                                   "",
		"sqlite:cells/g0-3.db":               "sqlite:cells/g0-3.db",
		"sqlite:/srv/my data/g0-3.db":        "sqlite:/srv/my data/g0-3.db",
		"/srv/locus":                         "/srv/locus",
		"postgres://db1/locus_g0_3":          "postgres://db1/locus_g0_3",
		"postgres://db1:5432,db2:5433/locus": "postgres://db1:5432,db2:5433/locus",
		"postgres://me@db1/locus":            "postgres://me@db1/locus",
		"postgres://me:hush@db1/locus":       "postgres://me@db1/locus",
		"postgres://me:@db1/locus":           "postgres://me@db1/locus",
		"postgres://db1/locus?password=hush": "postgres://db1/locus",
		"postgres://db1/l?sslpassword=hush":  "postgres://db1/l",
		"postgres://me:hu%zzsh@db1/locus":    "postgres:…",
		"host=db1 password=hush":             "…",
		"host=db1:1 Password=hush":           "host=db1:…",
	} {
		if got := cell.Redact(url); got != want {
			t.Errorf("Redact(%q) = %q, want %q", url, got, want)
		}
	}
}
