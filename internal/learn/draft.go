// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"maps"
	"math"

	"github.com/locus-db/locus/match"
)

const (
	// perLevel is the number of matches for each of their levels below which the weights are not learned: ten for each
	// parameter, as for other regressions.
	perLevel = 10
	// leastStable is the accepted agreement of the halves.
	leastStable = 0.9
	// mostContradicted is the share of matches that today's weights call different from which the estimate of the gain
	// is not believed: it took something else for a match.
	mostContradicted = 0.25
	// mostUnited is the share of United above which a draft is assumed to join different things, if it is also more
	// than half of the share expected by chance.
	mostUnited = 0.1
	// mostOpposed is the share of Opposed above which a draft is assumed to join different things. Slips, which are levels
	// of their own, are hardly ever the reason, but up to fewOpposed pairs may be mistakes.
	mostOpposed, fewOpposed = 0.1, 3
	// mostMore limits how many times as many matches the learned weights may find as today's weights: more would not be
	// missed matches, but different things.
	mostMore = 2
	// errors is how many standard errors the learned weights have to be better by.
	errors = 2
)

// Quality is an estimate of the matches that a table of weights finds among pairs with a common blocking key.
type Quality struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// Few reports whether there are too few matches to learn from.
func (d *Draft) Few() bool { return d.Matches < d.least() }

func (d *Draft) least() int { return max(perLevel*d.Seen, fewest) }

// Refused returns the reasons to keep today's weights, none if the draft is better as far as can be estimated without
// labels.
func (d *Draft) Refused() (reasons []string) {
	if d.Few() {
		return []string{fmt.Sprintf("%d matches are too few to learn from, at least %d are needed for %d levels",
			d.Matches, d.least(), d.Seen)}
	}
	if d.NamesAlone {
		return []string{"only names were compared: nothing else shows which of the likely matches are right"}
	}
	if d.Contradicted > mostContradicted {
		reasons = append(reasons, fmt.Sprintf("today's weights call %.1f %% of the likely matches different, more than %.0f %%", 100*d.Contradicted, 100*mostContradicted))
	}
	if d.Gain <= errors*d.Error {
		reasons = append(reasons, fmt.Sprintf("the learned weights are not better: F1 about %.3f, with today's weights %.3f, standard error of the difference %.4f", d.Learned.F1, d.Today.F1, d.Error))
	}
	if d.United > max(mostUnited, d.Chance/2) {
		reasons = append(reasons, fmt.Sprintf("%.1f %% of what the learned weights join are things of several records each, as when different things are joined; by chance it would be %.1f %%", 100*d.United, 100*d.Chance))
	}
	if d.Opposed > mostOpposed {
		reasons = append(reasons, fmt.Sprintf("%.1f %% of what the learned weights join have different identifiers, more than %.0f %%", 100*d.Opposed, 100*mostOpposed))
	}
	if d.Matches > mostMore*d.Known {
		reasons = append(reasons, fmt.Sprintf("the learned weights find %d matches, more than %d times the %d of today's: they join other things", d.Matches, mostMore, d.Known))
	}
	if d.Stable < leastStable {
		reasons = append(reasons, fmt.Sprintf("halves of the pairs agree on %.1f %% of the matches only, less than %.0f %%", 100*d.Stable, 100*leastStable))
	}
	return reasons
}

// draft returns the kind with the learned weights of the fields that had enough matches.
func (l *model) draft(w weights, matches table) *Draft {
	schema := *l.matcher.Schema()
	schema.Prior = match.Weight(math.Round(100 * min(max(w.prior, -60), 0)))
	schema.Weights = maps.Clone(schema.Weights)
	if schema.Weights == nil {
		schema.Weights = map[string]map[string]match.Weight{}
	}
	d := &Draft{Schema: &schema, Prior: l.matcher.Prior(), Pairs: len(l.pairs), NamesAlone: true}
	for f, field := range l.fields {
		if field.Fixed || matches.evidence(f) < fewest {
			continue
		}
		d.NamesAlone = d.NamesAlone && field.OfName
		learned := map[string]match.Weight{}
		for n, level := range field.Levels {
			if n == 0 || level.Text == "" || keeps(level) {
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

// hundredths returns bits as a weight that a level may have.
func hundredths(bits float64) match.Weight {
	const most = 20
	return match.Weight(math.Round(100 * min(max(bits, -most), most)))
}

// keeps reports whether the weight of a level is not learned: it decides, or statistics over more than pairs have
// determined what the level means.
func keeps(l match.FieldLevel) bool { return l.Counted || decides(l.Weight) }

// decides reports whether a level overrules all other evidence, as different ids of one source do. It keeps its weight.
func decides(w match.Weight) bool { return w <= match.CannotLink }

// judge fills in the figures that compare the learned weights with today's.
func (l *model) judge(d *Draft, matches table, first, second weights) {
	threshold := float64(l.matcher.Threshold()) / 100
	both, either := 0, 0
	for _, g := range l.groups {
		n := int(g.pairs[0] + g.pairs[1])
		switch a, b := first.of(g.vector) >= threshold, second.of(g.vector) >= threshold; {
		case a && b:
			both += n
			either += n
		case a || b:
			either += n
		}
	}
	d.Stable = 1
	if either > 0 {
		d.Stable = float64(both) / float64(either)
	}
	for f, of := range matches {
		for _, n := range of[1:] {
			if !l.fields[f].Fixed && n >= .5 {
				d.Seen++
			}
		}
	}
	o := l.opinion()
	today, learned := o.taken(l.matcher), o.taken(match.New(d.Schema, nil))
	d.Today, d.Learned = o.quality(today), o.quality(learned)
	d.Gain, d.Error = o.gain(learned, today)
	contradicted, all := 0.0, 0.0
	for i, p := range o.match {
		if all += p; l.groups[o.group[i]].today < 0 {
			contradicted += p
		}
		if learned[i] {
			d.Matches++
		}
		if today[i] {
			d.Known++
		}
	}
	d.Contradicted = contradicted / max(all, 1)
	l.unites(d, today, learned)
}
