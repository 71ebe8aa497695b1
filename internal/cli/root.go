// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locus-db/locus/internal/bulk"
)

const (
	// variableOf is the annotation of a flag with an environment variable: its name.
	variableOf = "variable"
	// setBy is the annotation of a flag that was set by a variable or the configuration file: which.
	setBy = "origin"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "locus",
		Short: "Resolve records of many sources into entities as they arrive",
		Long: "Locus resolves records of many sources about the same places, people or products into entities as they arrive. It\n" +
			"stores them in databases called cells, and computes the cell of an id from the id.",
		Example: "  locus demo                                    see it at work, in a browser\n" +
			"  locus ingest --source crm --key id places.csv  your own records, into ./locus-data",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
	}
	root.SetVersionTemplate("locus {{.Version}}\n")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "write JSON: one object, or a line for each of many")
	variables(root.PersistentFlags(), "json")
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run:"}, &cobra.Group{ID: "data", Title: "Data:"},
		&cobra.Group{ID: "explain", Title: "Explain:"})
	root.SetFlagErrorFunc(flagError)
	layOut(root)
	for id, commands := range map[string][]*cobra.Command{
		"run": {a.demoCommand(), a.serveCommand(), a.configCommand(), a.vacuumCommand(), a.checkCommand(),
			a.statusCommand(), a.doctorCommand(), a.cellCommand(), a.backupCommand(), a.dumpCommand(), a.restoreCommand(),
			a.upgradeCommand(), a.mirrorCommand(), a.sinkCommand(), a.tokenCommand(), a.sessionCommand(), a.accessCommand(),
			a.loginCommand(), a.logoutCommand(), a.whoamiCommand(), a.contextCommand(), a.auditCommand(), a.subjectCommand(),
			a.mcpCommand()},
		"data": {a.ingestCommand(), a.matchCommand(), a.entityCommand(), a.recordCommand(), a.sourceCommand(),
			a.reviewCommand(), a.judgeCommand(), a.decisionCommand(), a.kindCommand(), a.termsCommand(), a.rollupCommand(),
			a.metricCommand(), a.changeCommand(), a.exportCommand(), a.dedupeCommand(), a.linkCommand()},
		"explain": {a.idCommand(), a.routeCommand(), a.quality(), a.evalCommand()},
		"":        {a.versionCommand()},
	} {
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(helpCommand())
	walk(root, func(c *cobra.Command) {
		c.SuggestionsMinimumDistance = 2
		if c.HasSubCommands() && c.RunE == nil {
			c.Args = cobra.ArbitraryArgs
			c.RunE = group
		}
		describe(c.Flags())
		describe(c.PersistentFlags())
	})
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := fromEnvironment(c.Flags(), a.env); err != nil {
			return err
		}
		return a.fromFile(c)
	}
	return root
}

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, child := range c.Commands() {
		walk(child, visit)
	}
}

// group runs a noun without a verb: it prints help, or suggests the verb that was probably meant.
func group(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	hint := c.CommandPath() + " --help lists them"
	var near []string
	for _, name := range c.SuggestionsFor(args[0]) {
		near = append(near, c.CommandPath()+" "+name)
	}
	if len(near) == 0 {
		near = verbs(c, args[0])
	}
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage(hint, "%s has no command %.60q", c.CommandPath(), args[0])
}

// verbs returns the commands of this name below the nouns of c: locus entity why for "why".
func verbs(c *cobra.Command, name string) (paths []string) {
	for _, noun := range c.Commands() {
		for _, verb := range noun.Commands() {
			if verb.IsAvailableCommand() && verb.Name() == name {
				paths = append(paths, verb.CommandPath())
			}
		}
	}
	return paths
}

// helpCommand is cobra's help, except that an unknown command is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, sub := range of.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			switch {
			case of == nil || err != nil:
				return group(c.Root(), args)
			case len(rest) > 0 && of.HasSubCommands():
				return group(of, rest)
			case len(rest) > 0:
				return usage(of.CommandPath()+" --help", "%s has no commands, so no %.60q", of.CommandPath(), rest[0])
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// flagError explains a flag that cannot be parsed.
func flagError(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 {
		return group(c, words) // the flag belongs to the missing command
	}
	hint := c.CommandPath() + " --help lists the flags"
	if wrong, ok := errors.AsType[mapError](err); ok {
		return usage(hint, "%s: --map: %v", c.CommandPath(), wrong)
	}
	if wrong, ok := errors.AsType[mongoError](err); ok {
		return usage(hint, "%s: --mongodb: %v", c.CommandPath(), wrong)
	}
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := bulk.Nearest(name, names); near != "" {
			hint = "did you mean --" + near + "?"
		}
	}
	return usage(hint, "%s: %v", c.CommandPath(), err)
}

// variable returns the environment variable of a flag, such as LOCUS_URL for --url, "" if it has none. Variables locate
// the installation and configure a server, and never change what another command does.
func variable(f *pflag.Flag) string {
	if names := f.Annotations[variableOf]; len(names) > 0 {
		return names[0]
	}
	return ""
}

// variables gives flags the variable of their name: LOCUS_TOKEN_FILE for --token-file.
func variables(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if f := flags.Lookup(name); variable(f) == "" {
			_ = flags.SetAnnotation(name, variableOf, []string{"LOCUS_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))})
		}
	}
}

// describe adds the variable to the help of each flag.
func describe(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if name := variable(f); name != "" && !strings.Contains(f.Usage, "["+name+"]") {
			f.Usage += " [" + name + "]"
		}
	})
}

// fromEnvironment sets flags that were not given from the environment.
func fromEnvironment(flags *pflag.FlagSet, env map[string]string) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		name := variable(f)
		text := env[name]
		if err != nil || f.Changed || name == "" || text == "" {
			return
		}
		if set := f.Value.Set(text); set != nil {
			err = usage("unset it, or give --"+f.Name, "variable %s: %v", name, set)
		}
		_ = flags.SetAnnotation(f.Name, setBy, []string{"variable " + name})
	})
	return err
}

// arguments checks the number of arguments and names the missing ones.
func arguments(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		hint := c.CommandPath() + " --help"
		if len(names) > 0 {
			hint = c.Parent().CommandPath() + " " + c.Use
		}
		if len(args) < len(names) {
			return usage(hint, "%s: %s is missing", c.CommandPath(), names[len(args)])
		}
		return usage(hint, "%s: unexpected argument %.60q", c.CommandPath(), args[len(names)])
	}
}

// atMost accepts one argument or none.
func atMost(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return arguments(name)(c, args)
		}
		return nil
	}
}

// atLeast requires at least one argument.
func atLeast(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return arguments(name)(c, args)
		}
		return nil
	}
}
