// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command has a one-sentence description and two examples that begin with its path; every flag that has
// a variable names it.
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
			if name := variable(f); name != "" && (!strings.Contains(f.Usage, "["+name+"]") || !strings.HasPrefix(name, "LOCUS_") && !strings.HasPrefix(name, "OTEL_")) {
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

// Variables locate an installation and configure a server. A variable that a server reads has the same meaning in all
// commands.
func TestVariable(t *testing.T) {
	t.Parallel()
	root := (&app{}).root()
	serve, _, _ := root.Find([]string{"serve"})
	own := map[string]string{}
	serve.LocalFlags().VisitAll(func(f *pflag.Flag) { own[variable(f)] = f.Name })
	if own["LOCUS_SHUTDOWN_TIMEOUT"] != "shutdown-timeout" || own["LOCUS_LOG"] != "log-level" {
		t.Errorf("the variables of a server are %v", own)
	}
	elsewhere := map[string]string{
		"LOCUS_URL": "url", "LOCUS_TOKEN_FILE": "token-file", "LOCUS_JSON": "json", "LOCUS_CELL_MAP": "map",
		"LOCUS_DATA_SETS":  "data",
		"LOCUS_MIRROR_URI": "uri", "LOCUS_MIRROR_COLLECTION": "collection",
	}
	walk(root, func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if name := variable(f); name != "" && own[name] != f.Name && elsewhere[name] != f.Name {
				t.Errorf("%s --%s: the variable %s changes a command that is neither a server nor finds one", c.CommandPath(),
					f.Name, name)
			}
		})
	})
}
