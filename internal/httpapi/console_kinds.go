// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/quality"
)

const (
	// maxTried is the maximum number of bytes of a record that is typed to be compared.
	maxTried = 4096
	// maxDraft is the maximum number of records of an installation whose drafts are tried in a page: the dry run
	// resolves all records of the kind.
	maxDraft = 20_000
	// switchWait is how long a page waits for a migration. The maintenance loop continues it.
	switchWait = 2 * time.Second
)

func (p *site) kindsPage(c *call, body *bytes.Buffer) error {
	rules, err := narrowed(p.Server, c, p.svc.Kinds().List(), nil)
	if err != nil {
		return err
	}
	shown := console.Kinds{Rules: rules, Terms: p.svc.Kinds().Terms()}
	if _, err := require(access.From(c).Whole(), access.All(access.Read)); err == nil {
		profile, err := recently(c, p.looks, "profile ", func(ctx context.Context) (*quality.Profile, error) {
			return p.svc.Quality().Profile(ctx, quality.ProfileQuery{})
		})
		if shown.Profile, err = narrowed(p.Server, c, profile, err); err != nil {
			return err
		}
	}
	return p.shown(c.r).Kinds(body, shown)
}

// tryPage compares two records that were typed, or are stored.
func (p *site) tryPage(c *call, body *bytes.Buffer) error {
	c.query.unfilled()
	shown := console.Try{Kind: c.query["kind"], A: c.query["a"], B: c.query["b"]}
	schema := p.svc.Kinds().Schema(shown.Kind)
	if schema == nil {
		return kinds.ErrNoKind
	}
	shown.Kind = schema.Kind
	if shown.A == "" && shown.B == "" {
		return p.shown(c.r).Try(body, shown)
	}
	a, err := p.tried(c, schema, shown.A)
	if err == nil {
		var b match.Attributes
		if b, err = p.tried(c, schema, shown.B); err == nil {
			shown.Tried, err = p.svc.Kinds().Try(c, kinds.Proposal{Kind: schema.Kind}, a, b)
		}
	}
	if err != nil {
		f := toFault(err, "")
		if codes[f.Code].status >= http.StatusInternalServerError {
			return err
		}
		shown.Problem = f.Detail
	}
	return p.shown(c.r).Try(body, shown)
}

// tried reads a record: the address of one, or lines of the form "attribute: value".
func (p *site) tried(c *call, schema *match.Schema, text string) (match.Attributes, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxTried {
		return nil, fault(CodeInvalid, "", "a record to try has at most %d bytes", maxTried)
	}
	name, _, _ := strings.Cut(text, ":")
	if _, declared := schema.Attribute(strings.TrimSpace(name)); !declared && text != "" && !strings.Contains(text, "\n") {
		rec, err := p.svc.Entities().Record(c, text)
		if err != nil {
			return nil, fault(CodeInvalid, "",
				"%.80q is neither the address of a record nor a line like \"name: Joe's Pizza\"", text)
		}
		if rec.Kind != schema.Kind {
			return nil, fault(CodeInvalid, "", "%.80s is of kind %s", text, rec.Kind)
		}
		return match.Attributes(rec.Attributes), nil
	}
	a := match.Attributes{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if _, declared := schema.Attribute(name); !found || !declared {
			return nil, fault(CodeInvalid, "",
				"%.80q is not a line like \"name: Joe's Pizza\" with an attribute of the kind", line)
		}
		a[name] = append(a[name], value)
	}
	if len(a) == 0 {
		return nil, fault(CodeInvalid, "", "give both records: an address, or lines like \"name: Joe's Pizza\"")
	}
	return a, nil
}

// draftPage shows the schema of a kind to edit.
func (p *site) draftPage(c *call, body *bytes.Buffer) error {
	shown, err := p.draft(c)
	if err != nil {
		return err
	}
	return p.shown(c.r).Draft(body, shown)
}

func (p *site) draft(c *call) (console.Draft, error) {
	schema := p.svc.Kinds().Schema(c.query["kind"])
	if schema == nil {
		return console.Draft{}, kinds.ErrNoKind
	}
	_, err := require(access.From(c).Whole(), access.All(access.Define))
	return console.Draft{Kind: schema.Kind, Version: schema.Version, YAML: string(schema.YAML()), MayTry: err == nil}, nil
}

// judgeDraft shows the effect of a draft, or migrates to it.
func (p *site) judgeDraft(c *call, body *bytes.Buffer) error {
	shown, err := p.draft(c)
	if err != nil {
		return err
	}
	shown.YAML = strings.ReplaceAll(c.query["schema"], "\r\n", "\n")
	proposal := kinds.Proposal{Kind: shown.Kind}
	if proposal.Schema, err = match.ParseSchema([]byte(shown.YAML)); err == nil && proposal.Schema.Kind != shown.Kind {
		err = fault(CodeInvalid, "/schema", "the draft is of kind %.64q, not of %q", proposal.Schema.Kind, shown.Kind)
	}
	if err == nil && c.query["do"] == "switch" {
		if err = p.switchTo(c, proposal); err == nil {
			http.Redirect(c.w, c.r, "/kinds", http.StatusSeeOther)
			return nil
		}
	} else if err == nil {
		err = p.dryRun(c, proposal, &shown)
	}
	if err != nil {
		f := toFault(err, "")
		if codes[f.Code].status >= http.StatusInternalServerError {
			return err
		}
		shown.Problem = f.Detail
	}
	return p.shown(c.r).Draft(body, shown)
}

// dryRun compares the entities under the draft with the current ones, and both rules with the decisions of people.
func (p *site) dryRun(c *call, proposal kinds.Proposal, shown *console.Draft) (err error) {
	status, err := p.recentStatus(c)
	if err != nil {
		return err
	}
	if status.Counts.Records > maxDraft {
		return fault(CodeInvalid, "", "a page tries drafts on at most %d records: use locus kind migrate FILE --dry-run",
			maxDraft)
	}
	if shown.Diff, err = p.svc.Kinds().Compare(c, proposal, func(kinds.Progress) {}); err != nil {
		return err
	}
	draft, err := p.svc.Kinds().Matcher(c, proposal)
	if err != nil {
		return err
	}
	shown.Labelled, err = p.svc.Quality().Labelled(c, draft)
	return err
}

// switchTo begins a migration, and leaves the rest to the maintenance loop if it takes long.
func (p *site) switchTo(c *call, proposal kinds.Proposal) error {
	ctx, cancel := context.WithTimeout(c, switchWait)
	defer cancel()
	err := p.svc.Kinds().Migrate(ctx, proposal, func(kinds.Progress) {})
	if err != nil && ctx.Err() != nil && c.Err() == nil {
		begun := slices.ContainsFunc(p.svc.Kinds().List(), func(r kinds.Rules) bool {
			return r.Schema.Kind == proposal.Kind && r.Schema.Hash() == proposal.Schema.Hash()
		})
		if !begun {
			return fmt.Errorf("the migration did not begin: %w", errors.Join(err, context.DeadlineExceeded))
		}
		return nil
	}
	return err
}
