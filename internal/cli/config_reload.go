// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locus-db/locus/internal/httpapi"
)

// reload reads the configuration file of a server again. The log level and the roles of groups change at once; for
// other settings it logs that they need a restart. A file with a mistake changes nothing.
func (a *app) reload(c *cobra.Command, options *httpapi.Options) {
	if a.config == "" {
		return
	}
	next := &app{stderr: a.stderr, env: a.env, config: a.config}
	var s serving
	fresh := &cobra.Command{}
	next.serveFlags(fresh, &s)
	err := a.reread(next, c.Flags(), fresh, &s)
	if err != nil {
		f := explainFailure(c.Context(), err)
		options.Logger.Error("configuration reload failed", "err", f.Message, "try", f.Hint)
		return
	}
	for _, of := range settings {
		was, now := c.Flags().Lookup(of.flag), fresh.Flags().Lookup(of.flag)
		if was.Value.String() == now.Value.String() {
			continue
		}
		switch {
		case of.flag == "log-level":
			level := slog.LevelInfo
			if next.logLevel != "" {
				_ = level.UnmarshalText([]byte(next.logLevel)) // checked
			}
			a.level.Set(level)
		case of.flag == "oidc-role" && options.Login != nil:
			roles, _ := granted("--oidc-role", s.people.roles) // checked
			options.Login.SetRoles(roles)
		default:
			options.Logger.Warn("changed setting requires a restart", "setting", of.path)
			continue
		}
		replace(was.Value, now.Value)
		options.Logger.Info("changed setting applied", "setting", of.path)
	}
	options.Logger.Info("configuration reloaded", "file", a.config)
}

// reread gives fresh the flags and variables of running, then the file, and checks all.
func (a *app) reread(next *app, running *pflag.FlagSet, fresh *cobra.Command, s *serving) (err error) {
	running.Visit(func(f *pflag.Flag) {
		if of := fresh.Flags().Lookup(f.Name); of != nil {
			replace(of.Value, f.Value)
			of.Changed = true
		}
	})
	if err := fromEnvironment(fresh.Flags(), a.env); err != nil {
		return err
	}
	next.config = a.config // as given, if it was a variable
	if err := next.fromFile(fresh); err != nil {
		return err
	}
	w, err := next.locate(fresh)
	if err != nil {
		return err
	}
	if err := s.check(w); err != nil {
		return err
	}
	return next.checkLog(fresh.Flags())
}

// replace sets a flag to the value of another one of the same type.
func replace(to, from pflag.Value) {
	if many, ok := from.(pflag.SliceValue); ok {
		_ = to.(pflag.SliceValue).Replace(many.GetSlice()) //nolint:forcetypeassert // of the same type
		return
	}
	if from.String() != to.String() {
		_ = to.Set(from.String()) // a flag accepts its own text
	}
}
