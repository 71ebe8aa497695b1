// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/locality"
)

// exampleID is the first id explained in the original documentation.
const exampleID = "20be0ffc-314a-bd53-7a50-013a65ca76d2"

// minting holds the flags of minting ids.
type minting struct {
	number      int
	order, near string
	node        nodeFlag
}

func (a *app) idCommand() *cobra.Command {
	var m minting
	var mapFile string
	c := &cobra.Command{
		Use:   "id [ID | -]",
		Short: "Mint ids, or show the fields of an id",
		Long: "Without an argument, mints ids, one per line. With an id, shows its fields; with -, those of the ids on standard\n" +
			"input, one per line. Ids may be in upper case, without hyphens, in braces or with urn:uuid:.",
		Example: "  locus id -n 1000                                  mint\n" +
			"  locus id " + exampleID + "     explain",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return arguments("ID")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.mint(c, &m)
			}
			for _, name := range []string{"number", "order", "near", "node"} {
				if c.Flags().Changed(name) {
					return usage("locus id "+args[0], "--%s is for minting, not for explaining an id", name)
				}
			}
			e, err := newExplainer(mapFile)
			if err != nil {
				return err
			}
			if args[0] == "-" {
				return a.explainIDs(c.Context(), e)
			}
			id, err := parseID(args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(e.explain(id))
			}
			_, err = fmt.Fprint(a.stdout, e.card(id))
			return err
		},
	}
	f := c.Flags()
	f.IntVarP(&m.number, "number", "n", 1, "number of ids to mint")
	f.StringVar(&m.order, "order", "variable",
		"byte order of minted ids: variable (spread evenly), sequential (in runs) or scatter (spread, for several tables)")
	f.StringVar(&m.near, "near", "", "mint near this id, so that both are in one cell")
	f.Var(&m.node, "node", "node of minted ids: a number that no other process uses, or random")
	f.StringVar(&mapFile, "map", "", "file with a cell map, to show the cell of an id")
	_ = f.SetAnnotation("map", variableOf, []string{"LOCUS_CELL_MAP"}) // LOCUS_MAP is the cell map of an installation
	variables(f, "node")
	return c
}

func (a *app) mint(c *cobra.Command, m *minting) error {
	flags := c.Flags()
	switch {
	case m.number < 1:
		return usage("locus id -n 10", "--number %d: want at least 1", m.number)
	case flags.Changed("map"):
		return usage("locus id "+exampleID+" --map FILE", "--map is for explaining an id, not for minting")
	case m.near != "" && flags.Changed("order"):
		return usage("leave --order out", "--near mints ids in sequence, in the cell of that id; it takes no --order")
	}
	// Users of this command need not react to a change of identity.
	options := &locality.Options{Node: m.node.Node, OnEvent: func(locality.Event) {}}
	switch m.order {
	case "variable":
	case "sequential":
		options.Order = locality.Sequential
	case "scatter":
		options.Order = locality.Scatter
	default:
		return usage("--order variable, --order sequential, --order scatter", "unknown --order %.40q", m.order)
	}
	g, err := locality.NewGenerator(options)
	if err != nil {
		return fmt.Errorf("mint ids: %w", err)
	}
	fill := func(ids []locality.ID) error { g.Fill(ids); return nil }
	if m.near != "" {
		parent, err := parseID(m.near)
		if err != nil {
			return err
		}
		segment := beside(parent)
		fill = func(ids []locality.ID) error { return g.FillIn(segment, ids) }
	}
	return a.printMinted(c.Context(), m.number, fill)
}

// beside returns the segment where Generator.Near mints: the positions with the first 20 bits of parent.
func beside(parent locality.ID) locality.Segment {
	lo := parent.Position() &^ 0xfff
	return locality.Segment{Lo: lo, Hi: uint64(lo) + 0x1000}
}

// printMinted prints n ids, one per line.
func (a *app) printMinted(ctx context.Context, n int, fill func([]locality.ID) error) error {
	before, after := "", "\n"
	if a.json {
		before, after = `{"type":"result","id":"`, "\"}\n"
	}
	out := bufio.NewWriterSize(a.stdout, 64<<10)
	ids := make([]locality.ID, min(n, 4096))
	var line []byte
	for ; n > 0; n -= len(ids) {
		if err := ctx.Err(); err != nil {
			return err
		}
		ids = ids[:min(n, len(ids))]
		if err := fill(ids); err != nil {
			return fmt.Errorf("mint ids: %w", err)
		}
		for _, id := range ids {
			line, _ = id.AppendText(append(line[:0], before...))
			if _, err := out.Write(append(line, after...)); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// nodeFlag is --node, which makes the ids of processes differ.
type nodeFlag struct{ locality.Node }

// Set implements pflag.Value.
func (n *nodeFlag) Set(text string) error {
	if text == "random" {
		n.Node = locality.RandomNode()
		return nil
	}
	v, err := strconv.ParseUint(text, 10, 27)
	if err != nil {
		return fmt.Errorf("%.40q is neither random nor a number below 2^27 = 134217728, such as the ordinal of a replica",
			text)
	}
	n.Node = locality.FixedNode(uint32(v))
	return nil
}

// Type implements pflag.Value.
func (n *nodeFlag) Type() string { return "number" }
