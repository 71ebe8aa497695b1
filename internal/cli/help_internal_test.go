// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command has a one-sentence description and two examples that begin with its path; every flag names its
// variable.
func TestHelp(t *testing.T) {
	t.Parallel()
	root := (&app{}).root()
	seen := 0
	walk(root, func(c *cobra.Command) {
		if c.Name() == "help" || c.Name() == "completion" || c.HasParent() && c.Parent().Name() == "completion" {
			return
		}
		seen++
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: short help %q", c.CommandPath(), c.Short)
		}
		examples := strings.Split(c.Example, "\n")
		if len(examples) != 2 {
			t.Errorf("%s has %d examples, want 2", c.CommandPath(), len(examples))
		}
		for _, example := range examples {
			if !strings.HasPrefix(example, "  locus ") || !strings.HasPrefix(strings.TrimSpace(example), c.CommandPath()) {
				t.Errorf("%s: example %q", c.CommandPath(), example)
			}
			if err := known(root, example); err != "" {
				t.Errorf("%s: example %q: %s", c.CommandPath(), example, err)
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if slices.Contains(noVariable, f.Name) {
				return
			}
			if !strings.Contains(f.Usage, "["+variable(f)+"]") || !strings.HasPrefix(variable(f), "LOCUS_") {
				t.Errorf("%s --%s does not name its variable: %q", c.CommandPath(), f.Name, f.Usage)
			}
		})
	})
	if seen < 18 {
		t.Errorf("only %d commands were looked at", seen)
	}
}

// known reports whether the command and the flags of an example exist.
func known(root *cobra.Command, example string) string {
	line, _, _ := strings.Cut(example, " |")
	line, _, _ = strings.Cut(line, " >")
	words := strings.Fields(line)[1:]
	c, _, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	for _, word := range words {
		name, flag := strings.CutPrefix(word, "--")
		if flag && c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil {
			return "no flag --" + name
		}
	}
	return ""
}

func TestVariable(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
	flags.String("shutdown-timeout", "", "")
	if got := variable(flags.Lookup("shutdown-timeout")); got != "LOCUS_SHUTDOWN_TIMEOUT" {
		t.Errorf("got %s", got)
	}
	all := (&app{}).evalAll()
	if got := variable(all.Flags().Lookup("data")); got != "LOCUS_DATA_SETS" {
		t.Errorf("the folder of labelled sets is %s, as if it were a server's data", got)
	}
}
