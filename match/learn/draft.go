// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"maps"
	"math"

	"github.com/locus-db/locus/match"
)

const (
	// mostContradicted is the accepted share of matches that today's weights call different.
	mostContradicted = 0.05
	// mostAdded is the accepted share of matches that are none today.
	mostAdded = 0.5
	// leastStable is the accepted agreement of the halves.
	leastStable = 0.9
	// looked is the number of matches of a record of which each two are compared.
	looked = 20
)

// Quality is what can be said of a table of weights without labels.
type Quality struct {
	// Intransitive is the share of the pairs with a common match that are different.
	Intransitive float64 `json:"intransitive"`
	// Doubled is the share of matches that give a record a second match in a source that describes nothing twice.
	Doubled float64 `json:"doubled"`
}

// Refused returns the reasons to keep today's weights, none if the draft is at least as good without labels.
func (d *Draft) Refused() (reasons []string) {
	if d.Matches < fewest {
		return []string{fmt.Sprintf("%d matches are too few to learn from, at least %d are needed", d.Matches, fewest)}
	}
	if d.Contradicted > mostContradicted {
		reasons = append(reasons, fmt.Sprintf("today's weights call %.1f %% of the learned matches different, more than %.0f %%", 100*d.Contradicted, 100*mostContradicted))
	}
	if d.Added > mostAdded {
		reasons = append(reasons, fmt.Sprintf("%.1f %% of the learned matches are none with today's weights, more than %.0f %%", 100*d.Added, 100*mostAdded))
	}
	if d.Learned.Intransitive > d.Today.Intransitive {
		reasons = append(reasons, fmt.Sprintf("of the pairs with a common match %.1f %% are different, with today's weights %.1f %%", 100*d.Learned.Intransitive, 100*d.Today.Intransitive))
	}
	if d.Learned.Doubled > d.Today.Doubled {
		reasons = append(reasons, fmt.Sprintf("%.1f %% of the matches are a second one in a source that describes nothing twice, with today's weights %.1f %%", 100*d.Learned.Doubled, 100*d.Today.Doubled))
	}
	if d.Stable < leastStable {
		reasons = append(reasons, fmt.Sprintf("halves of the pairs agree on %.1f %% of the matches only, less than %.0f %%", 100*d.Stable, 100*leastStable))
	}
	return reasons
}

// draft returns the kind with the learned weights of the fields that had enough matches.
func (l *model) draft(w weights, matches table) *Draft {
	schema := *l.matcher.Schema()
	schema.Prior = min(hundredths(w.prior), 0)
	schema.Weights = maps.Clone(schema.Weights)
	if schema.Weights == nil {
		schema.Weights = map[string]map[string]match.Weight{}
	}
	d := &Draft{Schema: &schema, Pairs: len(l.pairs)}
	for f, field := range l.fields {
		if field.Fixed || matches.evidence(f) < fewest {
			continue
		}
		learned := map[string]match.Weight{}
		for n, level := range field.Levels {
			if n == 0 || level.Text == "" {
				continue
			}
			learned[level.Text] = hundredths(w.levels[f][n])
			d.Levels = append(d.Levels, Level{
				Field: field.Name, Text: level.Text, Before: level.Weight, After: learned[level.Text],
				Match: matches[f][n] / matches.evidence(f), Random: l.random[f][n] / max(l.random.evidence(f), 1),
			})
		}
		schema.Weights[field.Name] = learned
	}
	return d
}

// hundredths returns bits as a weight that a kind may have.
func hundredths(bits float64) match.Weight {
	const most = 20
	if bits < 0 {
		return match.Weight(math.Round(100 * max(bits, -60)))
	}
	return match.Weight(math.Round(100 * min(bits, most)))
}

// judge fills in what the learned weights are compared with today's by.
func (l *model) judge(d *Draft, learned, first, second weights) {
	threshold := float64(l.matcher.Threshold()) / 100
	contradicted, added, both, either := 0, 0, 0, 0
	for _, g := range l.groups {
		n := int(g.pairs[0] + g.pairs[1])
		if learned.of(g.vector) >= threshold {
			d.Matches += n
			if g.today < threshold {
				added += n
			}
			if g.today < 0 {
				contradicted += n
			}
		}
		switch a, b := first.of(g.vector) >= threshold, second.of(g.vector) >= threshold; {
		case a && b:
			both += n
			either += n
		case a || b:
			either += n
		}
	}
	d.Contradicted, d.Added = share(contradicted, d.Matches), share(added, d.Matches)
	d.Stable = 1
	if either > 0 {
		d.Stable = share(both, either)
	}
	d.Today, d.Learned = l.quality(&l.today, threshold), l.quality(&learned, threshold)
}

func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

func (l *model) quality(w *weights, threshold float64) Quality {
	matches := make([][]int32, len(l.records)) // of each record
	n := 0
	for i, p := range l.pairs {
		if w.of(l.vectors[i]) >= threshold {
			matches[p[0]] = append(matches[p[0]], int32(p[1]))
			matches[p[1]] = append(matches[p[1]], int32(p[0]))
			n++
		}
	}
	pairs, different, doubled := 0, 0, 0
	for _, of := range matches {
		for i := range min(len(of), looked) {
			second := false
			for _, j := range of[:i] {
				a, b := l.records[of[i]], l.records[j]
				if a.Deduplicated() && a.Source() == b.Source() {
					second = true
				} else {
					pairs++
					if w.of(l.matcher.Compare(a, b)) < 0 {
						different++
					}
				}
			}
			if second {
				doubled++
			}
		}
	}
	return Quality{Intransitive: share(different, pairs), Doubled: share(doubled, n)}
}
