// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/locus-db/locus/internal/mongotest"
)

// TestScripts_OnMongoDB runs the scripts that need MongoDB, each with a database for its mirror.
func TestScripts_OnMongoDB(t *testing.T) {
	t.Parallel()
	dir := filepath.Dir(built(t))
	scripts, err := filepath.Glob("mongodb/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		uri := mongotest.URI(t)
		testscript.Run(t, testscript.Params{
			Files: []string{script},
			Setup: func(env *testscript.Env) error {
				env.Setenv("PATH", dir+string(os.PathListSeparator)+env.Getenv("PATH"))
				env.Setenv("LOCUS_MIRROR_URI", uri)
				if !mongotest.On(t).Durable {
					env.Setenv("LOCUS_UNSAFE_DURABILITY", "true")
				}
				return nil
			},
			Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exitsWith},
			RequireExplicitExec: true,
			RequireUniqueNames:  true,
		})
	}
}
