// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/locality"
)

func (a *app) idCommand() *cobra.Command {
	var n int
	var order, near string
	c := &cobra.Command{
		Use:   "id [ID | -]",
		Short: "Mint ids, or show what an id says about itself",
		Long: "Without an argument ids are minted, one a line. With an id its fields are shown, with - those of the\n" +
			"ids on the standard input, one a line.",
		Example: "  locus id -n 1000                                  mint\n" +
			"  locus id 20be0ffc-314a-bd53-7a50-013a65ca76d2     explain",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return arguments("ID")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.mint(n, order, near)
			}
			for _, name := range []string{"number", "order", "near"} {
				if c.Flags().Changed(name) {
					return usage("locus id "+args[0], "--%s is for minting, not for explaining an id", name)
				}
			}
			if args[0] == "-" {
				return a.explainIDs()
			}
			id, err := parseID(args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(idFields(id))
			}
			return a.printID(id)
		},
	}
	c.Flags().IntVarP(&n, "number", "n", 1, "how many to mint")
	c.Flags().StringVar(&order, "order", "variable", "order of minted ids: variable (spread) or sequential (gathered)")
	c.Flags().StringVar(&near, "near", "", "mint near this id, so that both live in one cell")
	return c
}

func (a *app) mint(n int, order, near string) error {
	if n < 1 {
		return usage("locus id -n 10", "--number %d: want at least 1", n)
	}
	options := &locality.Options{}
	switch order {
	case "variable":
	case "sequential":
		options.Order = locality.Sequential
	default:
		return usage("--order variable, --order sequential", "--order %.40q is not known", order)
	}
	g, err := locality.NewGenerator(options)
	if err != nil {
		return fmt.Errorf("mint ids: %w", err)
	}
	fill := g.Fill
	if near != "" {
		parent, err := parseID(near)
		if err != nil {
			return err
		}
		fill = func(ids []locality.ID) {
			for i := range ids {
				ids[i] = g.Near(parent)
			}
		}
	}
	out := bufio.NewWriter(a.stdout)
	ids := make([]locality.ID, min(n, 1024))
	var line []byte
	for ; n > 0; n -= len(ids) {
		ids = ids[:min(n, len(ids))]
		fill(ids)
		for _, id := range ids {
			line, _ = id.AppendText(line[:0])
			if a.json {
				line = fmt.Appendf(nil, `{"id":%q}`, line)
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// parseID reads a Locality UUID: another version may be an id, but not one of these.
func parseID(text string) (locality.ID, error) {
	id, err := locality.Parse(text)
	if err != nil {
		return id, usage("locus id 20be0ffc-314a-bd53-7a50-013a65ca76d2", "%.60q is no id: want 36 characters, hex digits in groups of 8-4-4-4-12", text)
	}
	if _, ok := id.Time(); !ok {
		return id, usage("", "%s is a UUID of version %x: want version b, a Locality UUID", id, id.Version())
	}
	return id, nil
}

// fields of an id, for JSON.
type fields struct {
	ID       locality.ID `json:"id"`
	Position uint32      `json:"position"`
	Counter  uint32      `json:"counter"`
	Process  uint16      `json:"process"`
	Node     string      `json:"node"`
	Millis   int64       `json:"time_ms"`
	Time     string      `json:"time"`
}

func idFields(id locality.ID) fields {
	process, _ := id.PID()
	node, _ := id.Node()
	at, _ := id.Time()
	return fields{
		ID: id, Position: id.Position(), Counter: id.Counter(), Process: process,
		Node:   fmt.Sprintf("%x:%02x:%02x:%02x", node>>24, node>>16&0xff, node>>8&0xff, node&0xff),
		Millis: at.UnixMilli(), Time: at.Format(time.RFC3339Nano),
	}
}

func (a *app) printID(id locality.ID) error {
	f := idFields(id)
	at, _ := id.Time()
	_, err := fmt.Fprintf(a.stdout, "id        %s\nposition  0x%08x   %.4f %% of the way round the ring\ncounter   %s (0x%08x)\nprocess   %s\nnode      %s\ntime      %s UTC (%d)\n",
		f.ID, f.Position, float64(f.Position)/(1<<32)*100, term.Count(int64(f.Counter)), f.Counter, term.Count(int64(f.Process)), f.Node,
		at.Format("2006-01-02 15:04:05.000"), f.Millis)
	return err
}

// explainIDs reads ids, one a line. A bad line is told and the rest is explained.
func (a *app) explainIDs() error {
	const header = "id\tposition\tcounter\tprocess\tnode\ttime"
	out := bufio.NewWriter(a.stdout)
	defer out.Flush()
	if !a.json {
		fmt.Fprintln(out, header)
	}
	in := bufio.NewReader(a.stdin)
	bad := 0
	for number := 1; ; number++ {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read ids: %w", err)
		}
		if n := len(line); n > 0 && line[n-1] == '\n' {
			line = line[:n-1]
		}
		id, err := parseID(line)
		if err != nil {
			bad++
			a.say("line %d: %s", number, term.Escape(err.Error()))
			continue
		}
		f := idFields(id)
		if a.json {
			if err := out.Flush(); err != nil {
				return err
			}
			if err := a.printJSON(f); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%s\t%s\n", f.ID, f.Position, f.Counter, f.Process, f.Node, f.Time); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if bad > 0 {
		return &failure{Code: "invalid", Message: fmt.Sprintf("%d lines are no ids", bad), Hint: "their numbers stand above", Exit: exitPartly}
	}
	return nil
}
