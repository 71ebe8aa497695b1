// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/rollup"
)

// definePage shows the definition of a rollup to change, or an example of one.
func (p *site) definePage(c *call, body *bytes.Buffer) error {
	shown, err := p.defining(c)
	if errors.Is(err, rollup.ErrNotFound) {
		return p.noRollup(c, c.query["rollup"])
	}
	if err != nil {
		return err
	}
	return p.shown(c.r).Define(body, *shown)
}

// defining is the page before anything is typed.
func (p *site) defining(c *call) (*console.Define, error) {
	schema, err := p.kind(c, "")
	if err != nil {
		return nil, err
	}
	_, refused := require(access.From(c).Whole(), access.All(access.Define))
	shown := &console.Define{Name: c.query["rollup"], Schema: schema, MayDefine: refused == nil}
	if shown.Name == "" {
		return shown, nil
	}
	newest, err := p.newest(c, shown.Name)
	if err != nil {
		return nil, err
	}
	shown.YAML = string(newest.YAML())
	return shown, nil
}

// newest returns the definition of a rollup that serves or is to serve, if the principal may read all it has.
func (p *site) newest(c *call, name string) (*rollup.Definition, error) {
	list, err := p.svc.Rollups().Definitions(c, name)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if err := mayRead(&access.From(c).Restriction, &list[i]); err != nil {
			return nil, err
		}
	}
	return &list[len(list)-1], nil
}

// defineForm shows the counts of a definition, or stores it; it also rebuilds and drops a rollup.
func (p *site) defineForm(c *call, body *bytes.Buffer) error {
	shown, err := p.defining(c)
	if errors.Is(err, rollup.ErrNotFound) {
		return p.noRollup(c, c.query["rollup"])
	}
	if err != nil {
		return err
	}
	to, err := p.define(c, shown)
	if err == nil && to != "" {
		p.looks.drop("rollup")
		http.Redirect(c.w, c.r, to, http.StatusSeeOther)
		return nil
	}
	if err != nil {
		f := toFault(err, "")
		if codes[f.Code].status >= http.StatusInternalServerError {
			return err
		}
		shown.Problem = f.Detail
	}
	return p.shown(c.r).Define(body, *shown)
}

// define performs the action of the form's button, and returns the page that shows the effect, "" for this one.
func (p *site) define(c *call, shown *console.Define) (to string, err error) {
	rollupsOf := p.svc.Rollups()
	switch c.query["do"] {
	case "rebuild":
		if _, err := rollupsOf.Rebuild(c, shown.Name); err != nil {
			return "", err
		}
		return "/rollups/" + shown.Name, nil
	case "drop":
		if shown.Name == "" || c.query["confirm"] != shown.Name {
			return "", fault(CodeInvalid, "/confirm", "type the name of the rollup to drop it: nothing was dropped")
		}
		return "/rollups", rollupsOf.Drop(c, shown.Name)
	}
	shown.YAML = strings.ReplaceAll(c.query["definition"], "\r\n", "\n")
	read, err := rollup.ParseNamed(shown.Name, []byte(shown.YAML))
	if err != nil {
		return "", err
	}
	if c.query["do"] == "define" {
		of, _, err := rollupsOf.Define(c, *read)
		if err != nil {
			return "", err
		}
		return "/rollups/" + of.Name, nil
	}
	checked, err := rollupsOf.Check(*read)
	if err != nil {
		return "", err
	}
	shown.Read = &checked
	if shown.Now, err = p.newest(c, checked.Name); errors.Is(err, rollup.ErrNotFound) {
		err = nil
	}
	return "", err
}
