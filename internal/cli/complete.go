// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

const (
	many = -1
	// offered is how many names a completion offers.
	offered = 100
)

// patience limits how long a completion may take, because the user is waiting. Tests raise it: their machine may be
// slow.
var patience = 1500 * time.Millisecond

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
		found = slices.DeleteFunc(found, func(name string) bool {
			return term.Escape(name) != name || slices.Contains(args, name)
		})
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// namesAt returns the function for names that reads a list: the texts under a key of its rows, each once.
func namesAt(path, field, key string) func(context.Context, *client, string) ([]string, error) {
	return func(ctx context.Context, cl *client, begun string) (names []string, err error) {
		var list map[string]json.RawMessage
		if _, err := cl.get(ctx, path, nil, &list); err != nil {
			return nil, err
		}
		var rows []map[string]any
		if err := json.Unmarshal(list[field], &rows); err != nil {
			return nil, fmt.Errorf("read the names of %s: %w", field, err)
		}
		for _, row := range rows {
			if name, ok := row[key].(string); ok && strings.HasPrefix(name, begun) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return names, nil
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
