// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/eval"
	"github.com/locus-db/locus/match"
)

func (a *app) evalCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "eval",
		Short: "Measure matching on labelled data",
		Example: "  locus eval pairs pairs.jsonl\n" +
			"  locus eval clusters records.csv --truth true_id --map Site=name",
	}
	c.AddCommand(a.evalPairs(), a.evalTables(), a.evalClusters(), a.evalSurvivorship(), a.evalAll())
	return c
}

// reported prints reports, even if there was an error.
func (a *app) reported(reports []*eval.Report, err error) error {
	for i, r := range reports {
		var printed error
		switch {
		case a.json:
			printed = a.printJSON(r)
		case i > 0:
			if _, printed = fmt.Fprintln(a.stdout); printed == nil {
				printed = r.WriteText(a.stdout)
			}
		default:
			printed = r.WriteText(a.stdout)
		}
		if printed != nil {
			return errors.Join(err, printed)
		}
	}
	return err
}

func (a *app) evalPairs() *cobra.Command {
	var o eval.PairsOptions
	c := &cobra.Command{
		Use:   "pairs FILE",
		Short: "Measure on pairs labelled as the same thing or different things",
		Example: "  locus eval pairs pairs.jsonl --split validation\n" +
			"  locus eval pairs test.txt --json",
		Args: arguments("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Path = args[0]
			return a.one(eval.Pairs(c.Context(), o))
		},
	}
	c.Flags().StringVar(&o.Split, "split", "", "only pairs of this split")
	judgeFlag(c, &o.Judge)
	columnsFlag(c, &o.Mapping)
	a.kindFlag(c, &o.Kind)
	return c
}

func (a *app) evalTables() *cobra.Command {
	var o eval.TablesOptions
	c := &cobra.Command{
		Use:   "tables LEFT RIGHT GOLD",
		Short: "Measure on two tables and a list of their matching rows",
		Example: "  locus eval tables fodors.csv zagats.csv matches.csv --gold-left fodors_id --gold-right zagats_id\n" +
			"  locus eval tables a.csv b.csv gold.csv --one-to-one --json",
		Args: arguments("LEFT", "RIGHT", "GOLD"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Left, o.Right, o.Gold = args[0], args[1], args[2]
			return a.one(eval.Tables(c.Context(), o))
		},
	}
	c.Flags().StringVar(&o.LeftID, "left-id", "id", "id column of LEFT")
	c.Flags().StringVar(&o.RightID, "right-id", "id", "id column of RIGHT")
	c.Flags().StringVar(&o.GoldLeft, "gold-left", "", "column of GOLD with ids of LEFT")
	c.Flags().StringVar(&o.GoldRight, "gold-right", "", "column of GOLD with ids of RIGHT")
	c.Flags().BoolVar(&o.Learn, "learn", false,
		"use weights learned from the tables, without the labels, as locus kind learn does")
	answersFlag(c, &o.Answers)
	judgeFlag(c, &o.Judge)
	c.Flags().BoolVar(&o.OneToOne, "one-to-one", false, "assume that neither table contains duplicates")
	columnsFlag(c, &o.Mapping)
	a.kindFlag(c, &o.Kind)
	return c
}

func (a *app) evalClusters() *cobra.Command {
	var o eval.ClustersOptions
	c := &cobra.Command{
		Use:   "clusters FILE",
		Short: "Measure on a table with duplicates and a column that labels them",
		Example: "  locus eval clusters records.csv --truth true_id\n" +
			"  locus eval clusters people.csv --truth true_id --kind person --map first_name=given_name",
		Args: arguments("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if o.Truth == "" {
				return usage("--truth COLUMN", "locus eval clusters: --truth is missing")
			}
			o.Path = args[0]
			return a.one(eval.Clusters(c.Context(), o))
		},
	}
	c.Flags().BoolVar(&o.Learn, "learn", false,
		"use weights learned from the table, without the labels, as locus kind learn does")
	answersFlag(c, &o.Answers)
	judgeFlag(c, &o.Judge)
	c.Flags().StringVar(&o.Truth, "truth", "", "column that is equal for rows that describe the same thing")
	columnsFlag(c, &o.Mapping)
	a.kindFlag(c, &o.Kind)
	return c
}

func (a *app) evalSurvivorship() *cobra.Command {
	return &cobra.Command{
		Use:     "survivorship FILE",
		Short:   "Measure how often the merged view shows the correct value",
		Example: "  locus eval survivorship gold.jsonl\n  locus eval survivorship gold.jsonl --json",
		Args:    arguments("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := eval.MeasureSurvivorship(args[0])
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printJSON(s)
			}
			return s.WriteText(a.stdout)
		},
	}
}

func (a *app) evalAll() *cobra.Command {
	var o eval.AllOptions
	var markdown bool
	var results, page string
	c := &cobra.Command{
		Use:   "all",
		Short: "Measure on every labelled set of a folder, and compare with stored figures",
		Example: "  locus eval all --data ../shared/data\n" +
			"  locus eval all --data ../shared/data --baseline eval/baseline.json --markdown",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Data == "" {
				return usage("--data DIR names the folder of labelled sets", "locus eval all: --data is missing")
			}
			reports, err := eval.All(c.Context(), o)
			if reports != nil {
				err = errors.Join(err, keepResults(reports, o.Data, results, page))
			}
			if markdown && !a.json {
				return errors.Join(err, eval.WriteMarkdown(a.stdout, reports))
			}
			return a.reported(reports, err)
		},
	}
	c.Flags().StringVar(&o.Data, "data", "", "folder of labelled sets")
	// LOCUS_DATA is already the data directory of a server.
	_ = c.Flags().SetAnnotation("data", variableOf, []string{"LOCUS_DATA_SETS"})
	c.Flags().StringVar(&o.Baseline, "baseline", "",
		"file of stored figures; a set that loses more than half a point of F1 is an error")
	c.Flags().BoolVar(&markdown, "markdown", false, "print one Markdown table")
	c.Flags().BoolVar(&o.Learn, "learn", false, "measure once more with weights learned from each set, without its labels")
	c.Flags().IntSliceVar(&o.Answers, "answers", nil,
		"also measure with weights learned from each of these numbers of answers, once all right and once one of ten wrong")
	judgeFlag(c, &o.Judge)
	c.Flags().StringVar(&results, "results", "", "write the figures to this file as JSON")
	c.Flags().StringVar(&page, "page", "", "write the quality page to this file as Markdown")
	return c
}

// keepResults writes the results to the named files.
func keepResults(reports []*eval.Report, data, results, page string) error {
	if results == "" && page == "" {
		return nil
	}
	survivorship, err := eval.MeasureSurvivorship(filepath.Join(data, "overture_survivorship", "gold_100.jsonl"))
	if err != nil {
		return err
	}
	survivorship.Name = "overture survivorship"
	kept := eval.ResultsOf(reports, survivorship)
	for name, write := range map[string]func(io.Writer) error{results: kept.Write, page: kept.WritePage} {
		if name == "" {
			continue
		}
		var text bytes.Buffer
		if err := write(&text); err != nil {
			return err
		}
		if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write the figures: %w", err)
		}
	}
	return nil
}

// kindFlag is --kind for labelled data, which does not belong to an installation.
func (a *app) kindFlag(c *cobra.Command, to **match.Schema) {
	c.Flags().Func("kind", "`KIND` of the records: place, person, product, or the YAML file of one (default place)", func(name string) (err error) {
		for _, kind := range match.Kinds() {
			if kind.Kind == name {
				*to = kind
				return nil
			}
		}
		*to, _, err = a.schemaOf(name)
		return err
	})
}

// columnsFlag is --map for labelled data. LOCUS_MAP has another meaning, for installations and imports.
func columnsFlag(c *cobra.Command, to *map[string]string) {
	c.Flags().StringToStringVar(to, "map", nil, "column=attribute, for columns with other names")
}

func (a *app) one(r *eval.Report, err error) error {
	if err != nil {
		return err
	}
	return a.reported([]*eval.Report{r}, nil)
}

func answersFlag(c *cobra.Command, to *int) {
	c.Flags().IntVar(to, "answers", 0,
		"use weights learned from the labels of this many pairs, as locus kind learn --decisions does")
}

func judgeFlag(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "judge", false,
		"also measure after the questions of locus judge, with a judge that is right nine times of ten")
}
