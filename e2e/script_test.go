// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/storage"
)

// TestScripts runs every *.txtar as a testscript: commands, then the files in their folder. The binary is first in
// PATH. Two commands are added, because exit codes are a promise, and because every command opens all cells:
//
//	exits CODE locus ARGUMENTS...  like exec, but has to end with CODE
//	cells N                        creates locus-data with N cells; locus ingest would create 16
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
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exitsWith, "cells": createCells},
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

func createCells(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 1 {
		ts.Fatalf("usage: cells N")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	notice, _ := time.ParseDuration(ts.Getenv("LOCUS_NOTICE")) // without it the default
	ts.Check(createData(ts.MkAbs("locus-data"), n, notice))
}

// createData creates a data directory with so many cells. Without a notice, the default notice of generations applies.
func createData(dir string, n int, notice time.Duration) error {
	cells, err := storage.Open(context.Background(), dir, &storage.Options{Cells: n, Notice: notice})
	if err != nil {
		return err
	}
	s, err := locus.OpenCells(context.Background(), cells, nil)
	if err != nil {
		return err
	}
	return s.Close()
}
