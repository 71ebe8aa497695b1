// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locus-db/locus/internal/term"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Check the configuration file of a server, show its settings, write an example",
		Long: "A server reads its settings from flags, from environment variables, and from the file of --config. A flag overrides its\n" +
			"variable, a variable overrides the file, and the file overrides the default. Other commands read the place of the\n" +
			"installation from the same file.",
		Example: "  locus config example > locus.yaml\n" +
			"  locus config check --config locus.yaml",
	}
	c.AddCommand(a.configCheck(), a.configPrint(), a.configExample())
	return c
}

func (a *app) configCheck() *cobra.Command {
	var s serving
	c := &cobra.Command{
		Use:   "check",
		Short: "Check the settings as locus serve does, without starting anything",
		Example: "  locus config check --config /etc/locus/locus.yaml\n" +
			"  locus config check --config locus.yaml --addr 0.0.0.0:7070",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.checkSettings(c, &s); err != nil {
				return err
			}
			a.say("the settings are valid")
			return nil
		},
	}
	a.serveFlags(c, &s)
	return c
}

// checkSettings checks the settings, and that the files of the certificate and of secrets can be read.
func (a *app) checkSettings(c *cobra.Command, s *serving) error {
	w, err := a.locate(c)
	if err != nil {
		return err
	}
	if err := s.check(w); err != nil {
		return err
	}
	if err := a.checkLog(c.Flags()); err != nil {
		return err
	}
	for _, of := range settings {
		f := c.Flags().Lookup(of.flag)
		if of.form != secretFile && of.flag != "tls-cert" && of.flag != "tls-client-ca" || f.Value.String() == "" {
			continue
		}
		file, err := os.Open(f.Value.String())
		if err != nil {
			return usage("name a file that the user of the server may read", "%s (%s): %v", of.path, origin(f), err)
		}
		_ = file.Close()
	}
	return nil
}

// secretVariables are the variables that have a secret themselves.
var secretVariables = []string{"LOCUS_MONGODB_PASSWORD", "LOCUS_TOKEN", "PGPASSWORD", "OTEL_EXPORTER_OTLP_HEADERS",
	"OTEL_EXPORTER_OTLP_TRACES_HEADERS"}

func (a *app) configPrint() *cobra.Command {
	var s serving
	c := &cobra.Command{
		Use:   "print",
		Short: "Show every setting with its value and the source of the value, without secrets",
		Example: "  locus config print --config /etc/locus/locus.yaml\n" +
			"  locus config print --json | jq 'select(.from != \"default\")'",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := a.locate(c); err != nil {
				return err
			}
			t := &term.Table{Header: []string{"setting", "value", "from"}}
			show := func(name, value, from string) error {
				if a.json {
					return a.printJSON(struct {
						Setting string `json:"setting"`
						Value   string `json:"value"`
						From    string `json:"from"`
					}{name, value, from})
				}
				t.Add(name, value, from)
				return nil
			}
			for _, of := range settings {
				f := c.Flags().Lookup(of.flag)
				if err := show(of.path, shownValue(of, f), origin(f)); err != nil {
					return err
				}
			}
			for _, name := range secretVariables {
				if a.env[name] == "" {
					continue
				}
				if err := show(name, "<from "+name+">", "variable "+name); err != nil {
					return err
				}
			}
			if a.json {
				return nil
			}
			return a.printTable(t)
		},
	}
	a.serveFlags(c, &s)
	return c
}

// shownValue returns the value of a setting for people. Of a secret, only its file is named.
func shownValue(of setting, f *pflag.Flag) string {
	text := f.Value.String()
	switch many, ok := f.Value.(pflag.SliceValue); {
	case ok:
		return strings.Join(many.GetSlice(), " ")
	case of.form == secretFile && text != "":
		return "<from " + text + ">"
	}
	return text
}

func (a *app) configExample() *cobra.Command {
	return &cobra.Command{
		Use:   "example",
		Short: "Write a configuration file with every setting, explained and commented out",
		Example: "  locus config example\n" +
			"  locus config example > locus.yaml",
		Args: arguments(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.stdout, configExample(nil))
			return err
		},
	}
}

// configExample returns a configuration file with every setting, all of them commented out but those of given.
func configExample(given map[string]string) string {
	var s serving
	c := &cobra.Command{}
	(&app{}).serveFlags(c, &s)
	var b strings.Builder
	b.WriteString("# Settings of Locus: all of them, with their defaults or an example. A flag of locus serve overrides its variable, a\n" +
		"# variable this file. Names of files are relative to this one. locus config check finds mistakes.\n")
	last := ""
	for _, of := range settings {
		section, name := of.section()
		indent := ""
		if section != last {
			fmt.Fprintf(&b, "\n%s:\n", section)
			last = section
		} else if section == "" {
			b.WriteByte('\n')
		}
		if section != "" {
			indent = "  "
		}
		f := c.Flags().Lookup(of.flag)
		for _, line := range folded(f.Usage, 116) {
			fmt.Fprintf(&b, "%s# %s\n", indent, line)
		}
		value := of.like
		if value == "" {
			value = f.DefValue
		}
		mark := "#"
		if v, ok := given[of.path]; ok {
			value, mark = v, ""
		}
		fmt.Fprintf(&b, "%s%s%s: %s\n", indent, mark, name, value)
	}
	return b.String()
}

// folded breaks a text into lines of at most so many bytes, at spaces.
func folded(text string, most int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		switch last := &lines[len(lines)-1]; {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) > most:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return slices.Clip(lines)
}
