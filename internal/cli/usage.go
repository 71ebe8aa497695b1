// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is a part of the flags of a command, which help lists below a heading of its own.
type flagGroup struct {
	heading string
	flags   []string
}

// placing are the flags of most commands that say where the data is. Help lists them after the command's own.
var placing = flagGroup{"Where the data is", []string{"config", "data", "map", "mongodb", "token-file", "url"}}

// ofServe are the groups of the flags of locus serve.
var ofServe = []flagGroup{
	{"Where the data is", []string{"config", "data", "map", "mongodb", "read-only", "unsafe-durability"}},
	{"Cells and their databases", []string{"cells", "connections", "node", "notice", "place"}},
	{"Listening and TLS", []string{
		"addr", "host", "insecure-listen", "peer-addr", "public-url", "tls", "tls-cert", "tls-key", "trusted-proxies",
	}},
	{"Who may call", []string{
		"access-grace", "bootstrap-token-file", "cert-role", "jwt-issuer", "jwt-role", "oidc-client-id",
		"oidc-client-secret-file", "oidc-issuer", "oidc-role", "tls-client-ca",
	}},
	{"Retention and limits", []string{
		"max-kinds", "max-rollups", "retain", "retain-hours", "retain-metrics", "retain-minutes",
	}},
	{"Sinks and streams", []string{"secret-env", "sink-files"}},
	{"Logs, audit, traces and profiles", []string{
		"audit", "audit-file", "log-format", "log-level", "pprof", "trace-endpoint", "trace-sample",
	}},
	{"The process", []string{"help", "shutdown-timeout"}},
}

// ownFlags is the part of cobra's template about the flags of a command.
const ownFlags = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"

// helpText is cobra's template of help, with the line that lists show of a command before its description.
const helpText = `{{if .HasParent}}{{.Short}}

{{end}}{{with .Long}}{{. | trimTrailingWhitespaces}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`

// templateFuncs gives cobra, whose functions are global, the one that its template calls here.
var templateFuncs = sync.OnceFunc(func() { cobra.AddTemplateFunc("flagsOf", flagsOf) })

// layOut sets how help is laid out.
func layOut(root *cobra.Command) {
	templateFuncs()
	root.SetHelpTemplate(helpText)
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), ownFlags, "{{flagsOf .}}", 1))
}

// flagsOf lists the flags of a command: those of locus serve in its groups; those of other commands in one list, and
// below it placing, if the command has all of it.
func flagsOf(c *cobra.Command) string {
	all, groups := c.LocalFlags(), []flagGroup{placing}
	if c.CommandPath() == "locus serve" {
		groups = ofServe
	} else if slices.ContainsFunc(placing.flags, func(name string) bool { return all.Lookup(name) == nil }) {
		groups = nil
	}
	lists := make([]*pflag.FlagSet, 1+len(groups)) // the first has what is in no group
	for i := range lists {
		lists[i] = pflag.NewFlagSet("", pflag.ContinueOnError)
	}
	all.VisitAll(func(f *pflag.Flag) {
		in := slices.IndexFunc(groups, func(g flagGroup) bool { return slices.Contains(g.flags, f.Name) })
		lists[1+in].AddFlag(f)
	})
	parts := make([]string, 0, len(lists))
	for i, list := range lists {
		heading := "Flags"
		if i > 0 {
			heading = groups[i-1].heading
		}
		if list.HasFlags() {
			parts = append(parts, heading+":\n"+list.FlagUsages())
		}
	}
	return strings.TrimRight(strings.Join(parts, "\n"), "\n")
}
