// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

const (
	many = -1
	// patience limits how long a completion may take, because the user is waiting.
	patience = 1500 * time.Millisecond
	// offered is how many names a completion offers.
	offered = 100
)

// names completes up to most arguments with names from the server or the directory.
func (a *app) names(ask func(context.Context, *client, string) ([]string, error), most int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if most != many && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(c.Context(), patience)
		defer cancel()
		c.SetContext(ctx)
		if err := fromEnvironment(c.Flags(), a.env); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		cl, err := a.connect(c, reads)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer cl.close()
		found, err := ask(ctx, cl, begun)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found = slices.DeleteFunc(found, func(name string) bool { return term.Escape(name) != name || slices.Contains(args, name) })
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

func metricNames(ctx context.Context, cl *client, begun string) (names []string, err error) {
	var list httpapi.MetricList
	q := url.Values{"limit": {strconv.Itoa(offered)}}
	if begun != "" {
		q.Set("prefix", begun)
	}
	if _, err := cl.get(ctx, "/v1/metrics", q, &list); err != nil {
		return nil, err
	}
	for _, m := range list.Metrics {
		names = append(names, m.Metric)
	}
	return names, nil
}

func rollupNames(ctx context.Context, cl *client, _ string) (names []string, err error) {
	var list struct {
		Rollups []struct{ Name string }
	}
	if _, err := cl.get(ctx, "/v1/rollups", nil, &list); err != nil {
		return nil, err
	}
	for _, r := range list.Rollups {
		names = append(names, r.Name)
	}
	return names, nil
}
