// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/rollup"
)

func (a *app) rollupDefine() *cobra.Command {
	var wait bool
	c := &cobra.Command{
		Use:   "define FILE|-",
		Short: "Create a rollup from a definition in YAML or JSON, or change its definition",
		Long: "An existing rollup keeps serving until the new generation is computed. Repeating a definition changes nothing. The\n" +
			"servers compute the generation; in a data directory this command does, and waits for it.",
		Example: "  locus rollup define places_by_category.yaml --wait\n" +
			"  locus rollup define - < places_by_category.yaml",
		Args: arguments("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			file, text, err := a.definition(args[0], "docs/examples has some")
			if err != nil {
				return err
			}
			d, err := rollup.Parse(text)
			if invalid, ok := errors.AsType[*rollup.InvalidError](err); ok {
				return a.wrongDefinition(file, text, invalid.Problems)
			}
			if err != nil {
				return err
			}
			cl, err := a.connect(c, writes)
			if err != nil {
				return err
			}
			defer cl.close()
			return a.define(c, cl, file, d.Name, text, wait)
		},
	}
	c.Flags().BoolVar(&wait, "wait", false, "wait until the rollup serves the new definition")
	return a.connection(c)
}

// define sends a definition unchanged.
func (a *app) define(c *cobra.Command, cl *client, file, name string, text []byte, wait bool) error {
	q := question{method: http.MethodPut, path: rollupPath(name), body: text, media: "application/yaml"}
	if first := bytes.TrimSpace(text); bytes.HasPrefix(first, []byte("{")) {
		q.media = "application/json"
	}
	var of httpapi.Rollup
	raw, status, err := cl.exchange(c.Context(), q, &of)
	if problem, ok := errors.AsType[*httpapi.Problem](err); ok && problem.Code == httpapi.CodeInvalid && len(problem.Errors) > 0 {
		return a.wrongDefinition(file, text, problem.Errors)
	}
	if err != nil {
		return err
	}
	outcome := "unchanged"
	if status == http.StatusCreated {
		outcome = "defined"
	}
	return a.built(c.Context(), cl, &of, raw, outcome, wait)
}
