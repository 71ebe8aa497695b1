// SPDX-License-Identifier: Apache-2.0

package review

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
)

// Team is how far people are with their answers, and how often they agree.
type Team struct {
	// People are the people who answered pairs or have pairs assigned, the busiest of the week first. Programs are left
	// out.
	People []Progress `json:"people"`
	// Left is how many pairs at the head of the review queue are not answered yet; More reports that there are further
	// ones.
	Left      int         `json:"left" doc:"Pairs in the first 1000 of the review queue"`
	More      bool        `json:"more,omitempty" doc:"There are more pairs than left"`
	Agreement []Agreement `json:"agreement" doc:"For each two people how often they gave the same answer to a pair"`
	// Disagreements are the newest pairs that people answer differently and that are not settled, at most MaxPage;
	// Unsettled counts all.
	Disagreements []Disagreement `json:"disagreements"`
	Unsettled     int            `json:"unsettled"`
	// Batches are the newest bulk decisions, at most MaxPage.
	Batches []Batch `json:"batches"`
}

// Progress is how many answers a person gave. An answer of a bulk decision counts in InBulk only.
type Progress struct {
	Person string `json:"person" doc:"Empty for decisions without a name"`
	Today  int    `json:"today" doc:"Answers since midnight UTC"`
	Week   int    `json:"week" doc:"Answers in the last seven days"`
	All    int    `json:"all"`
	InBulk int    `json:"in_bulk" doc:"Pairs decided in bulk, which the other figures leave out"`
	// Rate is the answers an hour of the last seven days, in the hours that have some.
	Rate     float64 `json:"rate" doc:"Answers per hour, over the hours of the last seven days with answers"`
	Assigned int     `json:"assigned" doc:"Pairs of the review queue that are assigned to the person"`
	hours    map[time.Time]bool
}

// Agreement is how often two people agree.
type Agreement struct {
	A     string `json:"a"`
	B     string `json:"b"`
	Pairs int    `json:"pairs" doc:"Pairs that both answered"`
	Agree int    `json:"agree" doc:"Number of these with the same answer"`
}

// Disagreement is a pair with different answers.
type Disagreement struct {
	decisions.Decided
	Answers []entity.Answer `json:"answers"`
}

// Batch is a bulk decision.
type Batch struct {
	ID      string         `json:"id"`
	Author  string         `json:"author,omitempty"`
	Verdict entity.Verdict `json:"verdict"`
	Reason  string         `json:"reason,omitempty"`
	At      time.Time      `json:"at"`
	Stands  int            `json:"stands" doc:"Decisions in force: neither withdrawn nor replaced"`
}

const week = 7 * 24 * time.Hour

// describedAtOnce is how many decisions are described at a time.
const describedAtOnce = 1000

// Team reads all decisions about pairs of some kinds, nil for all. It has to keep decisions of unknown kinds until it
// has read their records.
func (h *Handle) Team(ctx context.Context, kinds []string) (*Team, error) {
	c := tallies{now: h.engine.Now().UTC(), people: map[string]*Progress{}, agreed: map[[2]string]*Agreement{},
		batches: map[string]*Batch{}}
	var all []entity.Decision
	count := c.add
	if kinds != nil {
		count = func(d *entity.Decision) { all = append(all, *d) }
	}
	if err := h.decisions.EachPair(ctx, count); err != nil {
		return nil, engine.Wrap(err)
	}
	seen, err := h.ofKinds(ctx, all, kinds)
	if err != nil {
		return nil, err
	}
	for i := range seen {
		c.add(&seen[i])
	}
	head, err := h.Head(ctx, kinds)
	if err != nil {
		return nil, err
	}
	for _, p := range head.Pairs {
		if p.Assigned != nil {
			c.of(p.Assigned.To).Assigned++
		}
	}
	t := &Team{Left: len(head.Pairs), More: head.Next != "", Unsettled: len(c.apart), People: []Progress{},
		Agreement: []Agreement{}, Disagreements: []Disagreement{}, Batches: []Batch{}}
	for _, p := range c.people {
		if len(p.hours) > 0 {
			p.Rate = float64(p.Week) / float64(len(p.hours))
		}
		t.People = append(t.People, *p)
	}
	slices.SortFunc(t.People, func(a, b Progress) int {
		return cmp.Or(b.Week-a.Week, b.All-a.All, cmp.Compare(a.Person, b.Person))
	})
	names := slices.SortedFunc(maps.Keys(c.agreed), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, key := range names {
		t.Agreement = append(t.Agreement, *c.agreed[key])
	}
	for _, b := range c.batches {
		t.Batches = append(t.Batches, *b)
	}
	slices.SortFunc(t.Batches, func(a, b Batch) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	t.Batches = t.Batches[:min(len(t.Batches), MaxPage)]
	slices.SortFunc(c.apart, func(a, b entity.Decision) int {
		return cmp.Or(b.At.Compare(a.At), a.Key().Compare(b.Key()))
	})
	told, err := h.decisions.Describe(ctx, c.apart[:min(len(c.apart), MaxPage)])
	if err != nil {
		return nil, err
	}
	for _, d := range told {
		t.Disagreements = append(t.Disagreements, Disagreement{d, d.Decision.Answers()})
	}
	return t, nil
}

// ofKinds returns the decisions about records of some kinds.
func (h *Handle) ofKinds(ctx context.Context, all []entity.Decision,
	kinds []string) (seen []entity.Decision, err error) {
	for some := range slices.Chunk(all, describedAtOnce) {
		told, err := h.decisions.Describe(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, d := range told {
			if slices.Contains(kinds, d.Kind) {
				seen = append(seen, d.Decision)
			}
		}
	}
	return seen, nil
}

// tallies counts answers.
type tallies struct {
	now     time.Time
	people  map[string]*Progress
	agreed  map[[2]string]*Agreement
	batches map[string]*Batch
	apart   []entity.Decision
}

func (c *tallies) of(person string) *Progress {
	p := c.people[person]
	if p == nil {
		p = &Progress{Person: person, hours: map[time.Time]bool{}}
		c.people[person] = p
	}
	return p
}

func (c *tallies) add(d *entity.Decision) {
	if d.Batch != "" && !d.Withdrawn {
		b := c.batches[d.Batch]
		if b == nil {
			b = &Batch{ID: d.Batch, Author: d.Author, Verdict: d.Verdict, Reason: d.Reason, At: d.At}
			c.batches[d.Batch] = b
		}
		b.Stands++
	}
	said := slices.DeleteFunc(d.Answers(), func(a entity.Answer) bool {
		return (&entity.Decision{Author: a.Author}).ByAgent()
	})
	differ := false
	for i, a := range said {
		c.answer(c.of(a.Author), a)
		for _, b := range said[:i] {
			if b.Author == a.Author {
				continue
			}
			names := [2]string{min(a.Author, b.Author), max(a.Author, b.Author)}
			with := c.agreed[names]
			if with == nil {
				with = &Agreement{A: names[0], B: names[1]}
				c.agreed[names] = with
			}
			with.Pairs++
			if a.Verdict == b.Verdict {
				with.Agree++
			} else {
				differ = true
			}
		}
	}
	if differ && !d.Settles && !d.Withdrawn {
		c.apart = append(c.apart, *d)
	}
}

// answer counts an answer of a person.
func (c *tallies) answer(p *Progress, a entity.Answer) {
	if a.Batch != "" {
		p.InBulk++
		return
	}
	p.All++
	if a.At.After(c.now.Add(-week)) {
		p.Week++
		p.hours[a.At.Truncate(time.Hour)] = true
	}
	if !a.At.Before(c.now.Truncate(24 * time.Hour)) {
		p.Today++
	}
}
