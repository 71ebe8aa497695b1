// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/mirror"
)

// showStatus prints the progress of the mirror for each cell.
func (m *mirroring) showStatus(ctx context.Context) error {
	standings, err := mirror.StandingOf(ctx, m.source, m.target)
	if err != nil {
		return err
	}
	now := time.Now()
	if m.json {
		for i := range standings {
			s := &standings[i]
			if err := m.printJSON(struct {
				Type string `json:"type"`
				mirror.Standing
				State  string `json:"state"`
				Behind int64  `json:"behind"`
				LagMS  int64  `json:"lag_ms"`
			}{"result", *s, stateOf(s), s.Behind(), s.Lag(now).Milliseconds()}); err != nil {
				return err
			}
		}
		return nil
	}
	t := &term.Table{
		Header: []string{"cell", "state", "ids filled", "at", "end of log", "behind", "lag", "settling"},
		Right:  map[int]bool{2: true, 3: true, 4: true, 5: true, 6: true, 7: true},
	}
	for i := range standings {
		s := &standings[i]
		behind, lag := "", ""
		if s.Filled {
			behind, lag = fmt.Sprint(s.Behind()), s.Lag(now).Round(100*time.Millisecond).String()
		}
		t.Add(s.Cell.String(), stateOf(s), fmt.Sprint(s.Count), fmt.Sprint(s.At), fmt.Sprint(s.Tail), behind, lag,
			fmt.Sprint(s.Settling))
	}
	return m.printTable(t)
}

func stateOf(s *mirror.Standing) string {
	switch {
	case s.Filled:
		return "following"
	case s.Time.IsZero():
		return "not begun"
	}
	return "filling"
}

// compare verifies the mirror against the installation.
func (m *mirroring) compare(ctx context.Context) error {
	progress := term.NewProgress(m.stderr, m.talk.Terminal && !m.json, nil)
	v, err := mirror.Verify(ctx, m.source, m.target, &mirror.VerifyOptions{
		Repair: m.repair, Patience: m.patience,
		Progress: func(compared int64) {
			progress.Update(func() string {
				if m.json {
					return fmt.Sprintf(`{"type":"progress","compared":%d}`, compared)
				}
				return fmt.Sprintf("verifying: %s ids compared", term.Count(compared))
			})
		},
	})
	progress.Close()
	if err != nil {
		return err
	}
	if m.json {
		if err := m.printJSON(struct {
			Type string `json:"type"`
			*mirror.Verification
			Differ int `json:"differ"`
		}{"result", v, v.Differ()}); err != nil {
			return err
		}
	} else {
		m.tell(v)
	}
	return m.verdict(v)
}

func (m *mirroring) tell(v *mirror.Verification) {
	for _, d := range v.First {
		m.say("%s %s", m.talk.Paint("31", string(d.What)), d.ID)
	}
	if more := v.Differ() - len(v.First); more > 0 {
		m.say("and %s more", plural(more, "document"))
	}
	if v.Settling > 0 {
		m.say("%s left out: their records are being resolved", plural(v.Settling, "id"))
	}
	if v.Differ() == 0 {
		m.say("%s ids: every document is correct", term.Count(v.Compared))
		return
	}
	m.say("%s ids: %d missing, %d surplus, %d different", term.Count(v.Compared), v.Missing, v.Surplus, v.Different)
}

// verdict returns an error if there are differences.
func (m *mirroring) verdict(v *mirror.Verification) error {
	late := make([]string, len(v.Late))
	for i, id := range v.Late {
		late[i] = id.String()
	}
	switch {
	case v.Differ() == 0:
		return nil
	case v.Repaired == v.Differ():
		if !m.json {
			m.say("%s written", plural(v.Repaired, "document"))
		}
		return nil
	case len(late) > 0:
		const shown = 5
		if len(late) > shown {
			late = append(late[:shown], fmt.Sprintf("%d more", len(late)-shown))
		}
		return &failure{
			Code: "behind", Message: fmt.Sprintf("%s wrong, and the mirror is behind in %s", plural(v.Differ(), "document"),
				strings.Join(late, ", ")),
			Exit: exitUnavailable, Hint: "locus mirror mongodb --once with the same flags brings it up to date; then verify again",
		}
	}
	return &failure{
		Code: "differs", Message: fmt.Sprintf("the mirror differs: %s", plural(v.Differ(), "document")), Exit: exitFailed,
		Hint: "--verify --repair rewrites it; if nothing else writes to the collection, report this as a bug",
	}
}
