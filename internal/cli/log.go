// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"github.com/locus-db/locus/internal/obs"
	"github.com/locus-db/locus/internal/term"
)

// levelFlag is --log-level.
type levelFlag string

// Set implements pflag.Value. Every command reports an unknown level in LOCUS_LOG when it makes the logger.
func (l *levelFlag) Set(text string) error {
	*l = levelFlag(text)
	return nil
}

// Type implements pflag.Value.
func (l *levelFlag) Type() string { return "level" }

// String implements pflag.Value.
func (l *levelFlag) String() string { return string(*l) }

// checkLog rejects wrong flags of the log.
func (a *app) checkLog(flags *pflag.FlagSet) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); a.logLevel != "" && err != nil && origin(flags.Lookup("log-level")) != "variable LOCUS_LOG" {
		return usage("--log-level debug", "--log-level %.40q: want debug, info, warn or error", a.logLevel)
	}
	if a.logFormat != "" && a.logFormat != "text" && a.logFormat != "json" {
		return usage("--log-format json", "--log-format %.40q: want text or json", a.logFormat)
	}
	return nil
}

// logger returns a logger to the standard error with the given level, or that of --log-level or LOCUS_LOG. The format
// is text or json.
func (a *app) logger(level slog.Level) *slog.Logger {
	if text := cmp.Or(a.logLevel, a.env["LOCUS_LOG"]); text != "" {
		if err := level.UnmarshalText([]byte(text)); err != nil {
			a.say("locus: LOCUS_LOG=%s is not a level (debug, info, warn, error); using %s", term.Clip(text, 40),
				strings.ToLower(level.String()))
		}
	}
	if a.level == nil {
		a.level = &slog.LevelVar{}
	}
	a.level.Set(level)
	options := &slog.HandlerOptions{Level: a.level}
	var to slog.Handler = slog.NewTextHandler(a.stderr, options)
	if cmp.Or(a.logFormat, a.env["LOCUS_LOG_FORMAT"]) == "json" {
		to = slog.NewJSONHandler(a.stderr, options)
	}
	if a.traced {
		to = obs.TracedLog(to)
	}
	return slog.New(to)
}
