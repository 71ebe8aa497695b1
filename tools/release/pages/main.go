// SPDX-License-Identifier: Apache-2.0

// Pages writes the man pages and the completions of the command line into a directory:
//
//	go -C tools/release run ./pages ../../bin/package
//
// Packages contain them. The binary does not: the generator would be linked into it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/locus-db/locus/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "pages: want one directory")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

// write writes man/*.1 and completions/* below dir. The pages are dated by the seconds of epoch, 1970 if it is empty,
// so that the same commit gives the same bytes.
func write(dir, epoch string) error {
	seconds := int64(0)
	if epoch != "" {
		var err error
		if seconds, err = strconv.ParseInt(epoch, 10, 64); err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
	}
	date := time.Unix(seconds, 0).UTC()
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{man, completions} {
		if err := os.RemoveAll(d); err != nil {
			return err
		}
		if err := os.MkdirAll(d, 0o755); err != nil { //nolint:gosec // every user may read it
			return err
		}
	}
	root := cli.Commands()
	quiet(root)
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "Locus", Manual: "Locus"}, man); err != nil {
		return fmt.Errorf("write the man pages: %w", err)
	}
	for name, generate := range map[string]func(string) error{
		"locus.bash": func(to string) error { return root.GenBashCompletionFileV2(to, true) },
		"_locus":     root.GenZshCompletionFile,
		"locus.fish": func(to string) error { return root.GenFishCompletionFile(to, true) },
	} {
		if err := generate(filepath.Join(completions, name)); err != nil {
			return fmt.Errorf("write the completion %s: %w", name, err)
		}
	}
	return nil
}

// quiet leaves out the line about the generator, which has the date of the run.
func quiet(c *cobra.Command) {
	c.DisableAutoGenTag = true
	for _, sub := range c.Commands() {
		quiet(sub)
	}
}
