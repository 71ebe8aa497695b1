// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/term"
)

// explanation is the part of a match.Explanation that is printed. Bits keep the server's formatting.
type explanation struct {
	Outcome string      `json:"outcome"`
	Weight  json.Number `json:"match_weight"`
	Lines   []struct {
		Attribute string      `json:"attribute"`
		Level     string      `json:"level"`
		Weight    json.Number `json:"match_weight"`
		A         []string    `json:"a"`
		B         []string    `json:"b"`
		Hidden    bool        `json:"hidden"`
	} `json:"lines"`
	BlockingKeys []struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	} `json:"blocking_keys"`
}

func (a *app) entityWhy() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "why ADDRESS [ADDRESS]",
		Short: "Show why the records of an entity belong together, or two records of one",
		Example: "  locus entity why 80e51ef9-7a7f-bd53-7a50-01a1f8660d00\n" +
			"  locus entity why vendor:88231 crm:17",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return arguments("ADDRESS")(c, args)
		},
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			if len(args) == 2 {
				return a.compare(c, cl, args[0], args[1])
			}
			e, _, err := a.find(c, cl, args[0])
			if err != nil {
				return err
			}
			var why struct {
				Threshold json.Number `json:"threshold"`
				Joins     []struct {
					A           entity.Ref       `json:"a"`
					B           entity.Ref       `json:"b"`
					Explanation explanation      `json:"explanation"`
					Decided     *entity.Decision `json:"decided"`
				} `json:"joins"`
			}
			raw, err := cl.get(c.Context(), "/v1/entities/"+e.ID.String()+"/why", nil, &why)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			fmt.Fprintf(a.stdout, "entity %s   %s   %s\n", e.ID, plural(e.Records, "record"),
				term.Escape(winner(e.View, "name")))
			if len(why.Joins) == 0 {
				fmt.Fprintln(a.stdout, "a single record: nothing was joined")
			}
			for i, join := range why.Joins {
				fmt.Fprintf(a.stdout, "\n%d. %s and %s\n", i+1, term.Escape(join.A.String()), term.Escape(join.B.String()))
				if join.Decided != nil {
					fmt.Fprintf(a.stdout, "   %s\n", says(join.Decided))
				}
				if err := a.waterfall(a.stdout, &join.Explanation, why.Threshold); err != nil {
					return err
				}
			}
			return nil
		}),
	})
}

func (a *app) entityWhyNot() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "why-not ADDRESS ADDRESS",
		Short: "Show why two records are in different entities, or in one",
		Example: "  locus entity why-not vendor:88231 crm:17\n" +
			"  locus entity why-not vendor:88231 80e51ef9-7a7f-bd53-7a50-01a1f8660d00 --json",
		Args: arguments("ADDRESS", "ADDRESS"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			return a.compare(c, cl, args[0], args[1])
		}),
	})
}

// compare explains two records.
func (a *app) compare(c *cobra.Command, cl *client, x, y string) error {
	var answer struct {
		A       entity.Ref `json:"a"`
		B       entity.Ref `json:"b"`
		EntityA string     `json:"entity_a"`
		EntityB string     `json:"entity_b"`
		Reasons []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"reasons"`
		Threshold json.Number `json:"threshold"`
		Shared    []struct {
			Kind         string `json:"kind"`
			Text         string `json:"text"`
			RecordsByKey int    `json:"block_size"`
			StopKey      bool   `json:"stop_key"`
		} `json:"shared"`
		Explanation explanation `json:"explanation"`
	}
	raw, err := cl.get(c.Context(), "/v1/why-not", url.Values{"a": {x}, "b": {y}}, &answer)
	if err != nil {
		return err
	}
	if a.json {
		return a.printRaw(raw)
	}
	fmt.Fprintf(a.stdout, "%s in entity %s\n%s in entity %s\n", term.Escape(answer.A.String()), answer.EntityA,
		term.Escape(answer.B.String()), answer.EntityB)
	for _, r := range answer.Reasons {
		fmt.Fprintf(a.stdout, "%s: %s\n", strings.ReplaceAll(r.Code, "_", " "), term.Escape(r.Message))
	}
	for _, f := range answer.Shared {
		generic := ""
		if f.StopKey {
			generic = ", too many to distinguish anything"
		}
		fmt.Fprintf(a.stdout, "  both have %s %s   carried by %s%s\n", term.Escape(f.Kind), term.Escape(f.Text),
			plural(f.RecordsByKey, "record"), generic)
	}
	answer.Explanation.BlockingKeys = nil
	return a.waterfall(a.stdout, &answer.Explanation, answer.Threshold)
}

// waterfall prints match weights that add up: a line for each field with its bits, the running sum and the values of
// both sides.
func (a *app) waterfall(w io.Writer, e *explanation, threshold json.Number) error {
	for _, f := range e.BlockingKeys {
		fmt.Fprintf(w, "   met by %s %s\n", term.Escape(f.Kind), term.Escape(f.Text))
	}
	t := &term.Table{Header: []string{"  weight", "sum", "field", "agreement", "one side", "other side"},
		Right: map[int]bool{0: true, 1: true}}
	sum := 0.0
	for _, l := range e.Lines {
		bits, err := l.Weight.Float64()
		if err != nil {
			return fmt.Errorf("read an explanation: %w", err)
		}
		sum += bits
		if l.Hidden {
			l.A, l.B = []string{"(hidden)"}, []string{"(hidden)"}
		}
		t.Add(fmt.Sprintf("%+.2f", bits), fmt.Sprintf("%.2f", sum), l.Attribute, l.Level,
			term.Clip(strings.Join(l.A, " | "), 48), term.Clip(strings.Join(l.B, " | "), 48))
	}
	if err := t.Write(w, a.out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "   %s: %s bits, the threshold is %s\n", e.Outcome, e.Weight, threshold)
	return err
}
