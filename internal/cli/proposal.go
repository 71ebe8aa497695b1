// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

// recognised recognises files, in order. On an error it closes the plans.
func (a *app) recognised(files []string, kinds []*match.Schema, o *reading) (plans []*bulk.Plan, err error) {
	for _, name := range files {
		p, err := bulk.Recognise(name, a.stdin, kinds, o.options)
		if err != nil {
			return nil, errors.Join(err, closePlans(plans))
		}
		plans = append(plans, p)
	}
	return plans, nil
}

func closePlans(plans []*bulk.Plan) error {
	var errs []error
	for _, p := range plans {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// settled shows the guesses and returns an error unless they are accepted: by --yes, by a person at the terminal, or
// because nothing is written. Columns without a meaning are then left out; other questions need an answer.
func (a *app) settled(plans []*bulk.Plan, o *ingesting) error {
	for _, p := range plans {
		if o.preview {
			continue
		}
		if err := a.shown(p); err != nil {
			return err
		}
		if !a.json {
			a.sayTotal(a.stderr, p)
		}
		if slices.ContainsFunc(p.Questions, func(q bulk.Question) bool { return q.Column == "" }) {
			return a.openQuestion(p, o.yes)
		}
		if o.yes || !p.Guessed() || o.dryRun && len(p.Questions) == 0 || a.accepts(p) {
			if p.Guessed() { // and shown
				p.LeaveOut()
			}
			continue
		}
		if len(p.Questions) > 0 {
			return a.openQuestion(p, false)
		}
		what := "the meaning of some columns"
		if !p.KindGuessed && !p.FormatGuessed && !slices.ContainsFunc(p.Columns, func(c bulk.Column) bool { return c.Guessed }) {
			what = "the source"
		}
		return &failure{
			Code: "invalid", Exit: exitInvalid,
			Message: fmt.Sprintf("nothing was imported: %s of %.80q is a guess", what, p.Name),
			Hint:    "see the table above; --yes accepts it, and so does " + command(p),
		}
	}
	return nil
}

// Layouts that need no mention.
const (
	plainLayout  = "CSV with commas, ASCII so far"
	plainLayout8 = "CSV with commas, UTF-8"
)

// openQuestion returns the failure for a plan with questions: first the questions that --yes leaves open, then, without
// --yes, the others. It ends with one command that answers them as far as the answers can be guessed.
func (a *app) openQuestion(p *bulk.Plan, yes bool) error {
	var questions, columns []bulk.Question
	for _, q := range p.Questions {
		if q.Column == "" {
			questions = append(questions, q)
		} else {
			columns = append(columns, q)
		}
	}
	complete := ". Complete: "
	if len(questions) == 0 {
		complete = ". --yes also leaves it out. Complete: "
	}
	if !yes {
		questions = append(questions, columns...)
	}
	var texts, hints []string
	for i, q := range questions {
		if i == 5 {
			texts = append(texts, fmt.Sprintf("and %d more", len(questions)-i))
			break
		}
		texts = append(texts, q.Text)
		if len(hints) == 0 || hints[len(hints)-1] != q.Hint {
			hints = append(hints, q.Hint)
		}
	}
	file, _ := errors.AsType[*bulk.FileError](p.Err())
	file.Reason = strings.Join(texts, "; ")
	return &failure{Code: "invalid", Message: file.Error(), Hint: strings.Join(hints, "; ") + complete + command(p),
		Exit: exitInvalid, Err: file}
}

// accepts asks at a terminal whether a plan is correct.
func (a *app) accepts(p *bulk.Plan) bool {
	if p.Name == bulk.Stdin || !isTerminal(a.stdin) || !a.talk.Terminal || a.json {
		return false
	}
	fmt.Fprintf(a.stderr, "Import it so? [y/N] ")
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(answer), "y") || strings.EqualFold(strings.TrimSpace(answer), "yes")
}

// showPlan prints the format of a file, and each column with its attribute, the reason, and three values. Of the
// columns without an attribute it names the first ones.
func (a *app) showPlan(w io.Writer, p *bulk.Plan) error {
	if a.json {
		return nil // the error says it
	}
	what := p.Layout()
	if p.Kind != "" {
		what += "; each row is " + withArticle(p.Kind)
	}
	if p.Source != "" {
		what += "; source " + p.Source
	}
	if p.SourceGuessed {
		what += " (a name with a number: --source NAME keeps the next file in the same source)"
	}
	fmt.Fprintf(w, "%s: %s\n", term.Escape(p.Name), what)
	t := &term.Table{Header: []string{"column", "becomes", "why", "values"}}
	meaningless := 0
	for _, c := range p.Columns {
		becomes := strings.Join(c.To, ", ")
		if becomes == "" {
			if meaningless++; meaningless > shownColumns {
				continue
			}
			becomes = "-"
		}
		why := c.Reason
		switch {
		case why != "":
		case len(c.To) > 0:
			why = "said"
			if c.To[0] == c.Name {
				why = "its name"
			} else if c.To[0] == bulk.ColumnKey && p.Primary(c.Name) {
				why = "the primary key"
			}
		case len(c.Values) == 0:
			why = "empty"
		default:
			why = "left out"
		}
		t.Add(term.Clip(c.Name, 32), becomes, why, term.Clip(strings.Join(c.Values, " | "), 60))
	}
	style := a.talk
	style.Terminal = true // a table for people is always aligned
	if err := t.Write(w, style); err != nil || meaningless <= shownColumns {
		return err
	}
	_, err := fmt.Fprintf(w, "and %s that become nothing\n",
		counted(int64(meaningless-shownColumns), "more column", "more columns"))
	return err
}

// sayTotal says that the last row of a file looks like a total.
func (a *app) sayTotal(w io.Writer, p *bulk.Plan) {
	if row := p.Total(); row != nil {
		fmt.Fprintf(w, "%s %d looks like the total below the list: delete it in the file, or it is read as a row like the others\n", p.Format.Unit(), row.Line)
	}
}

// plainWord is a word that a shell does not interpret.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellWord returns a word as a shell takes it.
func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// command returns the command that reads a file by its plan.
func command(p *bulk.Plan) string {
	words := slices.Concat([]string{"locus", "ingest"}, p.Args(), []string{p.Name})
	for i, word := range words {
		words[i] = shellWord(word)
	}
	return strings.Join(words, " ")
}

// withArticle returns a, or an before a vowel, and the name of a kind.
func withArticle(kind string) string {
	if strings.ContainsRune("aeiou", rune(kind[0])) {
		return "an " + kind
	}
	return "a " + kind
}
