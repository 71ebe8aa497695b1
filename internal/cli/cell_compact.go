// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/httpapi"
)

func (a *app) cellCompact() *cobra.Command {
	var f changing
	var to int
	c := &cobra.Command{
		Use:   "compact [--to G]",
		Short: "Copy the keys of older generations into the current one, so that a lookup reads fewer cells",
		Long: "Only keys are copied. Records stay in their cells, so puids and ids keep leading to the same place.\n" +
			"The command can be interrupted at any point and repeated.",
		Example: "  locus cell compact --dry-run\n" +
			"  locus cell compact --to 2 --yes",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			cl, err := a.connect(c, f.access())
			if err != nil {
				return err
			}
			defer cl.close()
			m, _, err := newestMap(c, cl)
			if err != nil {
				return err
			}
			if !c.Flags().Changed("to") {
				to = m.Current()
			}
			return a.compact(c, cl, m, to, &f)
		},
	}
	f.flags(c)
	c.Flags().IntVar(&to, "to", 0, "oldest generation that keeps its keys; the current one by default")
	return a.connection(c)
}

// newestMap requests the cell map; raw is its JSON.
func newestMap(c *cobra.Command, cl *client) (m *cell.Map, raw json.RawMessage, err error) {
	if raw, err = cl.get(c.Context(), "/v1/map", nil, nil); err != nil {
		return nil, nil, err
	}
	if m, err = cell.ParseMap(raw); err != nil {
		return nil, nil, fmt.Errorf("read the cell map: %w", err)
	}
	return m, raw, nil
}

func (a *app) compact(c *cobra.Command, cl *client, m *cell.Map, to int, f *changing) error {
	switch {
	case to < 1 && m.Current() == 0:
		return usage("locus cell grow adds a generation", "there is one generation, so there is nothing to compact")
	case to < 1 || to > m.Current():
		return usage(fmt.Sprintf("--to %d", m.Current()), "--to %d: want a generation from 1 to %d, which is current", to,
			m.Current())
	}
	before, after := m.Current()-m.Floor()+1, m.Current()-max(to, m.Floor())+1
	if a.json {
		if err := a.printJSON(map[string]any{"type": "plan", "to": to, "floor": m.Floor(), "current": m.Current(), "probes_before": before, "probes_after": after}); err != nil {
			return err
		}
	} else {
		a.say("%s", compactText(m, to, before, after))
	}
	if f.dryRun {
		return nil
	}
	if err := a.confirm(f.yes, "Compact? Records stay where they are."); err != nil {
		return err
	}
	result, err := a.change(c.Context(), cl, "/v1/cells/compact", httpapi.CompactRequest{To: to}, steps(func(p cell.Progress) (step, line string, err error) {
		return p.Step + fmt.Sprint(p.Generation), p.String(), nil
	}))
	if err != nil {
		return err
	}
	changed, err := resultOf[httpapi.Changed](result)
	if err != nil {
		return err
	}
	return a.summary(result, "done: keys are looked up in generation %d and newer, epoch %d", changed.Floor, changed.Epoch)
}

// compactText describes the plan of a compaction.
func compactText(m *cell.Map, to, before, after int) string {
	if m.Floor() >= to {
		return fmt.Sprintf("keys are already looked up from generation %d on; removing leftovers of an earlier compaction",
			m.Floor())
	}
	cells := uint64(0)
	for g := m.Floor(); g < to; g++ {
		cells += m.Count(g)
	}
	which := fmt.Sprintf("generation %d", m.Floor())
	if to-1 > m.Floor() {
		which = fmt.Sprintf("generations %d to %d", m.Floor(), to-1)
	}
	return fmt.Sprintf("will move the keys of %s (%s) to the %s of generation %d; records stay\n"+
		"then finding a key takes at most %s, not %d",
		which, plural(int(cells), "cell"), plural(int(m.Count(m.Current())), "cell"), m.Current(), plural(after, "look-up"), before)
}
