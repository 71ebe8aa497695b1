// SPDX-License-Identifier: Apache-2.0

package console

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// GroupsAtOnce is how many groups a page lists.
const GroupsAtOnce = 50

// Rollup is the content of the page of a rollup: its groups, or one of them with its latest changes.
type Rollup struct {
	Time   time.Time
	Status *rollups.Status
	// Answer holds the groups; nil if they cannot be read, with the reason in Problem. An answer ordered by a measure
	// holds the groups of all pages.
	Answer  *rollups.Answer
	Problem string
	// By is the measure that groups are ordered by, "" for their names.
	By string
	// Page is the page shown of an answer ordered by a measure, from 0.
	Page int
	// After is the exclusive start of a page by name; nil for the first.
	After []string
	// Query is the query of the URL, for a link to the same groups.
	Query string
	// Group is the requested group, as typed; nil for all.
	Group []string
	// Effects are the changes that affected it, the latest last. Unexplained says why they are missing.
	Effects     []rollups.CellEffect
	Unexplained string
}

// Orders returns the measures that groups can be ordered by. The first is the default.
func Orders(d *rollup.Definition) (orders []string) {
	for _, first := range []bool{true, false} {
		for _, m := range d.Measures {
			if adds(m.Func) && (m.Func == rollup.Count) == first {
				orders = append(orders, m.Name)
			}
		}
	}
	return orders
}

// Rollup writes the page of a rollup.
func (c *Console) Rollup(w io.Writer, r Rollup) error {
	return c.render(w, "rollup", "", newRollupPage(c.version, r))
}

func newRollupPage(version string, r Rollup) rollupPage {
	p := rollupPage{
		card: newCard(r.Status), Version: version, As: stamp(r.Time), Of: r, Lines: linesOf(r.Status.Cells),
		Open: len(r.Status.Cells) <= dotsAtOnce/4, Made: counted(int64(len(r.Status.Cells)), "cell"),
		Watermark: r.Status.Watermark.String(),
	}
	p.Here = "/rollups/" + p.Name
	if more := len(r.Status.Cells) - len(p.Lines); more > 0 {
		p.More = counted(int64(more), "cell")
	}
	d := &r.Status.Definition
	if r.Answer != nil {
		d = &r.Answer.Definition
		p.Watermark, p.As, p.Lag = r.Answer.Watermark.String(), stamp(r.Answer.AsOf), behind(r.Answer.Lag)
	}
	if len(p.Watermark) > longestWatermark {
		p.Watermark = ""
	}
	for i, attribute := range d.Group {
		f := field{Param: GroupParam(i), Attribute: attribute}
		if i < len(r.Group) {
			f.Value = r.Group[i]
		}
		p.Fields = append(p.Fields, f)
	}
	p.problems()
	switch {
	case r.Group != nil:
		p.one(d)
	case r.Answer != nil:
		p.many(d)
	}
	p.CSV = p.Here + "/csv"
	if r.Query != "" {
		p.CSV += "?" + r.Query
	}
	return p
}

// longestWatermark is the maximum length of a watermark shown inline; the table of cells has all of it.
const longestWatermark = 90

// GroupParam returns the query parameter for the value of a group's i-th attribute.
func GroupParam(i int) string { return "g" + strconv.Itoa(i+1) }

type rollupPage struct {
	card
	Of        Rollup
	Version   string
	As        stamp
	Here      string // URL of the page without a query
	Watermark string // "" if it is too long
	Problems  []string
	Fields    []field
	Orders    []order
	Table     *groupTable // of many groups
	One       *oneGroup
	Next      string
	First     string
	Note      string // a note about what the list omits
	Get       string // the equivalent command
	CSV       string // link to the same data as a file
	Lines     []cellLine
	Open      bool   // show the table of cells
	Made      string // number of cells
	More      string // number of cells not listed
}

// field is the input for the value of a group's attribute.
type field struct{ Param, Attribute, Value string }

// order is a way to order the groups.
type order struct {
	Name, Link string
	Here       bool
}

// Page identifies the structure of the page: another generation may have another definition.
func (p rollupPage) Page() string { return p.Version + "/" + p.Generation }

// Rebuild returns the command that rebuilds the rollup.
func (p rollupPage) Rebuild() string { return command("locus", "rollup", "rebuild", p.Name) }

// Verify returns the command that recomputes and compares.
func (p rollupPage) Verify() string { return command("locus", "rollup", "verify", p.Name) }

func (p *rollupPage) problems() {
	if p.Of.Problem != "" {
		p.Problems = append(p.Problems, p.Of.Problem)
	}
	if a := p.Of.Answer; a != nil && len(a.Missing) > 0 {
		text := "These numbers leave out " + counted(int64(len(a.Missing)), "cell") + " that is unavailable: "
		for i, c := range a.Missing {
			if i == troublesShown {
				text += " and others"
				break
			}
			if i > 0 {
				text += ", "
			}
			text += c.String()
		}
		p.Problems = append(p.Problems, text+".")
	}
	for _, t := range p.Troubles {
		p.Problems = append(p.Problems, t.Cells+": "+t.Reason)
	}
}

// many shows a page of groups.
func (p *rollupPage) many(d *rollup.Definition) {
	groups, by := p.Of.Answer.Groups, p.Of.By
	for _, name := range Orders(d) {
		p.Orders = append(p.Orders, order{"largest " + name, p.at(url.Values{"by": {name}}), by == name})
	}
	p.Orders = append(p.Orders, order{"name", p.at(url.Values{"order": {"name"}}), by == ""})
	get := []string{"locus", "rollup", "get", p.Name}
	if by == "" {
		if next := p.Of.Answer.Next; next != nil {
			p.Next = p.at(url.Values{"order": {"name"}, "after": {afterText(next)}})
		}
		if p.Of.After != nil {
			p.First = p.at(url.Values{"order": {"name"}})
		}
	} else {
		get = append(get, "--top", strconv.Itoa(GroupsAtOnce), "--by", by)
		from := min(p.Of.Page*GroupsAtOnce, len(groups))
		to := min(from+GroupsAtOnce, len(groups))
		if to < len(groups) {
			p.Next = p.at(url.Values{"by": {by}, "page": {strconv.Itoa(p.Of.Page + 2)}})
		} else if len(groups) == locus.MaxLimit {
			p.Note = "Only the " + count(locus.MaxLimit) + " largest groups are listed. Order by name to see all."
		}
		if from > 0 {
			p.First = p.at(url.Values{"by": {by}})
		}
		groups = groups[from:to]
	}
	p.Get = command(get...)
	p.Table = newGroupTable(d, groups, by, p.group)
	if kept := p.Table.Left; by != "" && len(kept) > 0 && p.Note == "" {
		p.Note = "Ordered by name, and on the page of a group, there is also " + strings.Join(kept, ", ") + "."
	}
}

// one shows one group and its latest changes.
func (p *rollupPage) one(d *rollup.Definition) {
	rest := p.Of.Group
	if slices.ContainsFunc(rest, func(v string) bool { return strings.HasPrefix(v, "-") }) {
		rest = append([]string{"--"}, rest...)
	}
	p.Get = command(append([]string{"locus", "rollup", "get", p.Name}, rest...)...)
	p.One = &oneGroup{
		Values: p.Of.Group, Dimension: d.Dimension,
		Explain:     command(append([]string{"locus", "rollup", "explain", p.Name}, rest...)...),
		Unexplained: p.Of.Unexplained,
	}
	if p.Of.Answer != nil && len(p.Of.Answer.Groups) > 0 {
		p.One.fill(d, &p.Of.Answer.Groups[0])
	}
	for i := range p.Of.Effects {
		p.One.Effects = append(p.One.Effects, newEffect(d, &p.Of.Effects[i]))
	}
	slices.Reverse(p.One.Effects)
}

// at returns the URL of this page with a query.
func (p *rollupPage) at(q url.Values) string { return p.Here + "?" + q.Encode() }

func (p *rollupPage) group(values []string) string {
	q := url.Values{}
	for i, v := range values {
		q.Set(GroupParam(i), v)
	}
	return p.at(q)
}

// afterText encodes a group for the parameter after; ParseAfter decodes it.
func afterText(group []string) string {
	text, _ := json.Marshal(group) // cannot fail for a list of strings
	return string(text)
}

// ParseAfter decodes the group that a page by name begins after.
func ParseAfter(text string) (group []string, ok bool) {
	err := json.Unmarshal([]byte(text), &group)
	return group, err == nil && len(group) > 0
}
