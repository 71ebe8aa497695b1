// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/buildinfo"
	"github.com/locus-db/locus/storage/all"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Example: "  locus version\n" +
			"  locus version --json",
		Args: arguments(),
		RunE: func(*cobra.Command, []string) error {
			build := buildinfo.Read()
			if a.json {
				return a.printJSON(struct {
					buildinfo.Info
					Formats map[string]int `json:"formats"`
				}{build, all.Formats()})
			}
			said := []string{"locus " + build.Version, build.Go, build.OS + "/" + build.Arch}
			if build.Commit != "" {
				said = append(said, "commit "+build.Commit+" of "+build.Time)
			}
			_, err := fmt.Fprintln(a.stdout, strings.Join(said, "  "))
			return err
		},
	}
}

// version returns the version of this binary.
func version() string { return buildinfo.Read().Version }
