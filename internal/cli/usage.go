// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// placing are the flags of most commands that say where the data is. Help lists them after the command's own.
var placing = []string{"config", "data", "map", "mongodb", "token-file", "url"}

// ownFlags is the part of cobra's template about the flags of a command.
const ownFlags = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"

// helpText is cobra's template of help, with the line that lists show of a command before its description.
const helpText = `{{if .HasParent}}{{.Short}}

{{end}}{{with .Long}}{{. | trimTrailingWhitespaces}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`

// templateFuncs gives cobra, whose functions are global, the one that its template calls here.
var templateFuncs = sync.OnceFunc(func() { cobra.AddTemplateFunc("flagsOf", flagsOf) })

// layOut sets how help is laid out. The flags of commands that have all of placing are divided.
func layOut(root *cobra.Command) {
	templateFuncs()
	root.SetHelpTemplate(helpText)
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), ownFlags, "{{flagsOf .LocalFlags}}", 1))
}

func flagsOf(all *pflag.FlagSet) string {
	divided := !slices.ContainsFunc(placing, func(name string) bool { return all.Lookup(name) == nil })
	own, where := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	all.VisitAll(func(f *pflag.Flag) {
		if divided && slices.Contains(placing, f.Name) {
			where.AddFlag(f)
		} else {
			own.AddFlag(f)
		}
	})
	text := "Flags:\n" + own.FlagUsages()
	if divided {
		text += "\nWhere the data is:\n" + where.FlagUsages()
	}
	return strings.TrimRight(text, "\n")
}
