// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
)

// mediaForm is the type of the body that a form sends.
const mediaForm = "application/x-www-form-urlencoded"

// form registers a handler for a form. do performs it and returns where the browser is redirected. Only these routes,
// and the ones registered by posted, change anything.
func (p *site) form(path string, do func(*call, values) (string, error)) http.HandlerFunc {
	rt := &route{path: path, class: writes}
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{Context: r.Context(), w: w, r: r, route: rt, class: rt.class}
		to, err := p.submit(c, do)
		err = unseen(c, err)
		switch {
		case errors.Is(err, errNameless):
			p.askName(c)
		case err != nil:
			p.sorry(c, err)
		default:
			http.Redirect(w, r, to, http.StatusSeeOther)
		}
	}
}

// posted registers a handler for a form that renders a page, or redirects and leaves the buffer empty.
func (p *site) posted(rt *route, render func(*call, *bytes.Buffer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{Context: r.Context(), w: w, r: r, route: rt, class: rt.class}
		var body bytes.Buffer
		err := fromPage(r)
		if err == nil {
			var free func()
			if free, err = p.readBody(c, mediaForm); err == nil {
				defer free()
				if c.query, err = parseQuery(string(c.body)); err == nil {
					err = p.run(c, func() error { return render(c, &body) })
				}
			}
		}
		switch {
		case err != nil:
			p.sorry(c, err)
		case body.Len() > 0:
			writePage(w, http.StatusOK, &body)
		}
	}
}

func (p *site) submit(c *call, do func(*call, values) (string, error)) (to string, err error) {
	if err := fromPage(c.r); err != nil {
		return "", err
	}
	free, err := p.readBody(c, mediaForm)
	if err != nil {
		return "", err
	}
	defer free()
	fields, err := parseQuery(string(c.body))
	if err != nil {
		return "", err
	}
	c.query = fields
	if fields["author"] = strings.TrimSpace(fields["author"]); fields["author"] == "" || access.From(c).Named() {
		fields["author"] = c.author()
	}
	if fields["author"] == "" {
		return "", errNameless
	}
	err = p.run(c, func() error {
		to, err = do(c, fields)
		return err
	})
	if err == nil && !access.From(c).Named() {
		http.SetCookie(c.w, &http.Cookie{
			Name: authorCookie, Value: url.QueryEscape(fields["author"]), Path: "/", MaxAge: 365 * 24 * 60 * 60, HttpOnly: true,
			SameSite: http.SameSiteLaxMode,
			Secure:   p.overTLS(c.r),
		})
	}
	return to, err
}

// authorCookie stores the last author in the browser, so that a name is typed only once.
const authorCookie = "locus-author"

// errNameless means that a form has no author and the browser sent none in its cookie.
var errNameless = errors.New("httpapi: a decision without the name of a person")

// author returns the principal, or without tokens the last author in this browser, "" if there is none.
func (c *call) author() string {
	if who := access.From(c); who.Named() {
		return who.Signs()
	}
	cookie, err := c.r.Cookie(authorCookie)
	if err != nil {
		return ""
	}
	name, err := url.QueryUnescape(cookie.Value)
	if err != nil || !utf8.ValidString(name) || len(name) > decisions.MaxAuthor {
		return ""
	}
	return strings.TrimSpace(name)
}

// askName answers a form without an author with a page that asks for the name and then submits the form.
func (p *site) askName(c *call) {
	var body bytes.Buffer
	if err := p.shown(c.r).Name(&body, console.Name{Action: c.r.URL.EscapedPath(), Fields: c.query}); err != nil {
		p.refuse(c.w, c.r, err)
		return
	}
	writePage(c.w, http.StatusUnprocessableEntity, &body)
}

// fromPage returns an error unless a form was sent by a page of this server. Any page on the web can make a browser
// send a form, and the form contains no secret, so the browser must state its origin. A request without it is refused,
// unlike at routes with JSON bodies, which foreign pages cannot send. The guard has already refused foreign hosts and
// requests marked as cross-site.
func fromPage(r *http.Request) error {
	if site := r.Header["Sec-Fetch-Site"]; len(site) == 1 && site[0] == "same-origin" {
		return nil
	} else if len(site) == 0 && len(r.Header["Origin"]) == 1 {
		if origin, err := url.Parse(r.Header.Get("Origin")); err == nil && origin.Host == r.Host && (origin.Scheme == "http" || origin.Scheme == "https") {
			return nil
		}
	}
	return fault(CodeForbidden, "", "forms are accepted only from pages of this server, which the browser does not confirm: use the command or /v1 instead")
}

// back returns where a form leads, with values added to the query: the page named by the form, if it is an allowed one.
func back(fields values, say url.Values) string {
	to, err := url.Parse(fields["back"])
	if err != nil || to.Path != "/review" && to.Path != "/review/team" && !strings.HasPrefix(to.Path, "/entities/") {
		to = &url.URL{Path: "/review"}
	}
	q := to.Query()
	maps.Copy(q, say)
	return (&url.URL{Path: to.Path, RawQuery: q.Encode()}).String()
}

// decideForm makes or withdraws a decision.
func (p *site) decideForm(c *call, fields values) (string, error) {
	in := decisions.Input{
		Verdict: entity.Verdict(fields["verdict"]), A: fields["a"], B: fields["b"], Attribute: fields["attribute"],
		Value:  fields["value"],
		Author: fields["author"], By: proved(c), Reason: fields["reason"], Withdraw: fields["withdraw"] != "",
		Settles: fields["settles"] != "",
	}
	if err := p.mayDecide(c, &in); err != nil {
		return "", err
	}
	results, err := p.svc.Decisions().Decide(c, []decisions.Input{in})
	if err != nil {
		return "", err
	}
	c.decided(&results[0])
	if err := results[0].Err; err != nil {
		return "", err
	}
	p.looks.drop(reviewLook + "team")
	p.requeue(c, &results[0].Decided) // the user sees the effect of the decision
	say := url.Values{}
	if d := results[0]; d.Pair() && strings.HasPrefix(fields["back"], "/review") && !strings.HasPrefix(fields["back"], "/review/") && d.RefA.Source != "" && d.RefB.Source != "" {
		say.Set("said", d.RefA.String())
		say.Set("of", d.RefB.String())
	}
	return back(fields, say), nil
}

// mergeForm merges an entity with another.
func (p *site) mergeForm(c *call, fields values) (string, error) {
	id, err := c.id()
	if err != nil {
		return "", err
	}
	if err := p.seen(c, id.String(), fields["address"]); err != nil {
		return "", err
	}
	defer p.looks.drop(reviewLook)
	result, err := p.svc.Decisions().Merge(c, id.String(), fields["address"],
		decisions.By{Author: fields["author"], Reason: fields["reason"], Principal: proved(c)})
	if err != nil {
		return "", err
	}
	c.decided(result)
	if result.Err != nil {
		return "", result.Err
	}
	return back(values{"back": "/entities/" + id.String()}, nil), nil
}

// unmergeForm removes a record from an entity.
func (p *site) unmergeForm(c *call, fields values) (string, error) {
	id, err := c.id()
	if err != nil {
		return "", err
	}
	if err := p.seen(c, id.String(), fields["address"]); err != nil {
		return "", err
	}
	defer p.looks.drop(reviewLook)
	results, err := p.svc.Decisions().Unmerge(c, id.String(), []string{fields["address"]},
		decisions.By{Author: fields["author"], Reason: fields["reason"], Principal: proved(c)})
	if err != nil {
		return "", err
	}
	for i := range results {
		c.decided(&results[i])
	}
	for _, r := range results {
		if r.Err != nil {
			return "", r.Err
		}
	}
	return back(values{"back": "/entities/" + id.String()}, nil), nil
}
