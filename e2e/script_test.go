// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs every *.txtar as a testscript: commands, then the files in their folder. The binary is first in
// PATH. One command is added, because exit codes are a promise:
//
//	exits CODE locus ARGUMENTS...  like exec, but has to end with CODE
func TestScripts(t *testing.T) {
	t.Parallel()
	dir := filepath.Dir(built(t))
	testscript.Run(t, testscript.Params{
		Dir: ".",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", dir+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("YESTERDAY", time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly))
			return nil
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exitsWith},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

func exitsWith(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
