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

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/internal/login"
	"github.com/locus-db/locus/locality"
)

// pageLimit is how many entities a page of the console's list has.
const pageLimit = 50

// site serves the pages of the console. They are for humans: unknown parameters are ignored, and a missing item gives a
// page that says so.
type site struct {
	*Server
	history console.History
	// streaming limits the number of open event streams.
	streaming chan struct{}
	looks     *looks
}

// registerConsole registers the pages, their files and their events.
func (s *Server) registerConsole() {
	s.pages = console.New(s.opts.Version).With(s.opts.Banner)
	p := &site{Server: s, streaming: make(chan struct{}, maxStreams), looks: newLooks()}
	s.handle("GET /{$}", access.All(access.Read).Narrowed(), p.page(&route{path: "/", class: reads, price: priceSearch}, p.homePage))
	s.handle("GET /operations", access.All(access.Read).Masked(), p.page(&route{path: "/operations", class: reads, price: priceSearch}, p.operationsPage))
	s.handle("GET /ring", access.All(access.Read).Masked(), p.page(&route{
		path: "/ring", class: reads, query: []param{{name: "address"}, {name: "from"}},
	}, p.ringPage))
	s.handle("GET /rollups", access.All(access.Read).Narrowed(), p.page(&route{path: "/rollups", class: reads}, p.rollupsPage))
	s.handle("GET /rollups/{name}", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/rollups/{name}", class: reads,
		query: []param{{name: "by"}, {name: "order"}, {name: "page"}, {name: "after"}, {name: "g1"}, {name: "g2"}, {name: "g3"}},
	}, p.rollupPage))
	s.handle("GET /counters", access.All(access.Read).Masked(), p.page(&route{
		path: "/counters", class: reads, query: []param{{name: "prefix"}, {name: "after"}},
	}, p.countersPage))
	s.handle("GET /counters/metric", access.All(access.Read).Masked(), p.page(&route{
		path: "/counters/metric", class: reads, query: []param{{name: "name"}, {name: "day"}},
	}, p.metricPage))
	s.handle("GET /counters/picture", access.All(access.Read).Masked(), p.page(&route{
		path: "/counters/picture", class: reads, query: []param{{name: "name"}, {name: "view"}, {name: "day"}, {name: "theme"}, {name: "size"}, {name: "at"}},
	}, p.picture))
	s.handle("GET /entities", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/entities", class: reads, price: priceSearch,
		query: []param{
			{name: "q"}, {name: "attribute"}, {name: "value"}, {name: "filter"}, {name: "has"}, {name: "without"}, {name: "kind"}, {name: "order"}, {name: "typos"}, {name: "cursor"},
		},
	}, p.searchPage))
	s.handle("GET /entities/{id}", access.All(access.Read).Narrowed(), p.page(&route{path: "/entities/{id}", class: reads}, p.entityPage))
	s.handle("GET /entities/{id}/what-if", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/entities/{id}/what-if", class: reads,
		query: []param{{name: "without"}, {name: "apart"}, {name: "merge"}, {name: "pin"}, {name: "value"}, {name: "anchor"}},
	}, p.whatIfPage))
	s.handle("GET /review", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/review", class: reads, price: priceSearch, query: []param{{name: "a"}, {name: "b"}, {name: "said"}, {name: "of"}, {name: "source"}, {name: "kind"}, {name: "attribute"}, {name: "bits"}, {name: "skip"}, {name: "order"}, {name: "assigned"}},
	}, p.reviewPage))
	s.handle("GET /review/bulk", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/review/bulk", class: reads, price: priceSearch, query: []param{{name: "verdict"}, {name: "pair"}, {name: "source"}, {name: "kind"}, {name: "attribute"}, {name: "bits"}, {name: "assigned"}},
	}, p.bulkPage))
	s.handle("GET /review/team", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/review/team", class: reads, price: priceSearch, query: []param{{name: "batch"}, {name: "assigned"}, {name: "to"}},
	}, p.teamPage))
	s.handle("POST /review/bulk", access.All(access.Decide).Narrowed(), p.form("/review/bulk", p.bulkForm))
	s.handle("POST /review/undo", access.All(access.Decide).Narrowed(), p.form("/review/undo", p.undoForm))
	s.handle("POST /review/assign", access.All(access.Decide).Narrowed(), p.form("/review/assign", p.assignForm))
	s.handle("GET /streams", access.All(access.Read).Narrowed(), p.page(&route{path: "/streams", class: reads}, p.streamsPage))
	s.handle("GET /data", access.All(access.Read).Masked(), p.page(&route{path: "/data", class: reads, price: priceSearch}, p.dataPage))
	s.handle("POST /data/preview", access.All(access.Read, access.Write).BySource(), p.fromFile("/data/preview", audit.Read, p.previewPart))
	s.handle("POST /data/import", access.All(access.Read, access.Write).BySource(), p.fromFile("/data/import", audit.Write, p.importPart))
	s.handle("GET /kinds", access.All(access.Schema).Narrowed(), p.page(&route{path: "/kinds", class: reads}, p.kindsPage))
	s.handle("GET /quality", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/quality", class: reads, price: priceSearch, query: []param{{name: "kind"}, {name: "threshold"}},
	}, p.qualityPage))
	s.handle("GET /kinds/try", access.All(access.Read, access.Schema), p.page(&route{
		path: "/kinds/try", class: reads, query: []param{{name: "kind"}, {name: "a"}, {name: "b"}},
	}, p.tryPage))
	s.handle("GET /kinds/draft", access.All(access.Schema), p.page(&route{path: "/kinds/draft", class: reads, query: []param{{name: "kind"}}}, p.draftPage))
	s.handle("POST /kinds/draft", access.All(access.Schema, access.Read, access.Define), p.draftForm)
	s.handle("POST /decisions", access.All(access.Decide).Narrowed(), p.form("/decisions", p.decideForm))
	s.handle("POST /entities/{id}/merge", access.All(access.Decide).Narrowed(), p.form("/entities/{id}/merge", p.mergeForm))
	s.handle("POST /entities/{id}/unmerge", access.All(access.Decide).Narrowed(), p.form("/entities/{id}/unmerge", p.unmergeForm))
	s.handle("GET /login", access.Public(), p.page(&route{path: "/login", class: reads, query: []param{{name: "to"}}}, p.loginPage))
	s.handle("POST /login", access.Public(), p.login)
	s.handle("GET /login/provider", access.Public(), p.page(&route{path: "/login/provider", class: reads, query: []param{{name: "to"}}}, p.toProvider))
	s.handle("GET "+login.Callback, access.Public(), p.page(&route{path: login.Callback, class: reads}, p.fromProvider))
	s.handle("GET /login/cli", access.Anyone().Narrowed(), p.page(&route{
		path: "/login/cli", class: reads, query: []param{{name: "challenge"}, {name: "port"}, {name: "state"}},
	}, p.grantPage))
	s.handle("POST /login/cli", access.Anyone().Narrowed(), p.grant)
	s.handle("POST /logout", access.Public(), p.logout)
	s.handle("GET /static/{file}", access.Public(), p.file)
	s.handle("GET /events", access.All(access.Read).Masked(), p.events)
	// The JSON that pages link to, because the API takes no cookie.
	for _, rt := range s.routes() {
		if at := map[string]string{"/v1/entities/{id}": "/entities/{id}/json", "/v1/series": "/counters/series", "/v1/records/{source}/{key...}": "/records/{source}/{key...}"}[rt.path]; at != "" && rt.method == http.MethodGet {
			rt.path = at
			s.register(&rt)
		}
	}
}

// page returns a handler that renders a page. The page is sent only when it is complete. render may also answer itself
// and leave the buffer empty.
func (p *site) page(rt *route, render func(*call, *bytes.Buffer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{Context: r.Context(), w: w, r: r, route: rt, class: rt.class}
		var body bytes.Buffer
		query, err := parseQuery(r.URL.RawQuery)
		if err == nil {
			c.query = query
			err = unseen(c, p.run(c, func() error { return render(c, &body) }))
		}
		switch {
		case err != nil:
			p.sorry(c, err)
		case body.Len() > 0:
			writePage(w, http.StatusOK, &body)
		}
	}
}

func writePage(w http.ResponseWriter, status int, body *bytes.Buffer) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w) // an error means that the client has left
}

// sorry renders a page for an error. Server errors are answered and logged as usual.
func (p *site) sorry(c *call, err error) {
	f := toFault(err, "")
	status := codes[f.Code].status
	if status >= http.StatusInternalServerError {
		p.refuse(c.w, c.r, err)
		return
	}
	asked := c.r.PathValue("id")
	if asked == "" {
		asked = c.query["q"]
	}
	n := console.Notice{Title: http.StatusText(status), Text: f.Detail, Asked: cut(asked, 200)}
	switch f.Code {
	case CodeNotFound:
		n.Title, n.Text = "Not found", "No record or entity has this address."
		n.Hint, n.Command = "Search by name above, or look up the cell of the address.", []string{"locus", "route", n.Asked}
	case CodeErased:
		n.Title, n.Text = "Deleted", "The record or entity with this address was deleted."
	}
	if err := p.notice(c.w, c.r, status, n); err != nil {
		p.refuse(c.w, c.r, err)
	}
}

func (p *site) operationsPage(c *call, body *bytes.Buffer) error {
	snapshot, err := p.overview(c)
	if err != nil {
		return err
	}
	snapshot.Address = c.r.Host
	if c.r.TLS != nil {
		snapshot.Address = "https://" + c.r.Host
	}
	return p.shown(c.r).Operations(body, snapshot)
}

// snapshot returns the current state; that of the cells may be a second old.
func (p *site) snapshot(ctx context.Context) (console.Snapshot, error) {
	status, err := p.recentStatus(ctx)
	if err != nil {
		return console.Snapshot{}, err
	}
	return console.Snapshot{Time: time.Now(), Status: status, Map: p.svc.Cells().Map(), History: &p.history}, nil
}

// overview returns a snapshot with the self-metrics, for the operations page.
func (p *site) overview(ctx context.Context) (console.Snapshot, error) {
	s, err := p.snapshot(ctx)
	if err == nil {
		s.Own, _ = recently(ctx, p.looks, "own", p.own) // on error the page shows it as unknown
		if received, known := console.Total(s.Own, console.Received); known {
			p.history.Add(s.Time, received)
		}
		s.Joins, _ = recently(ctx, p.looks, "joins", func(ctx context.Context) ([]changes.Match, error) { return p.svc.Changes().Matches(ctx), nil })
		s.Joins = p.viewer(&access.From(ctx).Restriction).matches(s.Joins, p.svc.Kinds().Schemas())
		if queue, err := p.queue(ctx, nil, 0); err == nil {
			s.Review, s.ReviewMore = len(queue.Pairs), queue.Next != ""
		}
	}
	return s, err
}

// searchPage shows the results of a search. The text may also be an address.
func (p *site) searchPage(c *call, body *bytes.Buffer) error {
	c.query.unfilled()
	if c.query["value"] == "" {
		delete(c.query, "attribute")
		if found, err := p.jump(c); found || err != nil {
			return err
		}
	}
	who := &access.From(c).Restriction
	if c.query["kind"] == "" && who.Kinds != nil {
		if c.query == nil {
			c.query = values{}
		}
		c.query["kind"] = who.Kinds[0]
	}
	kinds, err := narrowed(p.Server, c, p.svc.Kinds().Schemas(), nil)
	if err != nil {
		return err
	}
	if len(kinds) == 0 {
		return fault(CodeForbidden, "", "none of the kinds that you may see exists here")
	}
	shown := console.Search{
		Name: c.query["q"], Attribute: c.query["attribute"], Value: c.query["value"],
		Filters: c.query.list("filter"), Has: c.query.list("has"), Without: c.query.list("without"), Order: c.query["order"], Typos: c.query["typos"],
		Kind: c.query["kind"], Kinds: kinds, Schema: p.svc.Kinds().Schema(c.query["kind"]), Further: c.query["cursor"] != "", Listed: who.Hide != nil,
	}
	if shown.Listed && shown.Order == "" {
		shown.Order = string(entities.OrderID)
	}
	if shown.Schema == nil || !who.Sees(shown.Schema.Kind) {
		shown.Schema, shown.Kind, shown.Problem = kinds[0], "", fmt.Sprintf("No such kind: %.64q.", shown.Kind)
		return p.shown(c.r).Search(body, shown)
	}
	if c.query["value"] != "" { // becomes a filter, as in the cursor of the next page
		c.query["filter"] = strings.Join(append(slices.Clone(shown.Filters), shown.Attribute+":"+shown.Value), "\n")
		delete(c.query, "attribute")
		delete(c.query, "value")
	}
	after, err := p.afterPlace(c)
	if err != nil {
		return err
	}
	q, err := c.query.entities()
	var next entity.Place
	switch {
	case len(shown.Name) > entities.MaxText:
		err, shown.Problem = nil, "The search text is longer than 256 bytes."
	case err == nil:
		q.After, q.Limit = after, pageLimit
		if q.Order == "" && who.Hide == nil { // best is the default here, also without conditions
			q.Order = entities.OrderBest
		}
		if err = narrowQuery(who, &q); err == nil {
			next, err = p.results(c, q, &shown)
		}
	}
	if _, invalid := errors.AsType[*locus.InvalidError](err); invalid || err != nil && slices.Contains([]Code{CodeInvalid, CodeForbidden}, toFault(err, "").Code) {
		shown.Problem = toFault(err, "").Detail
	} else if err != nil {
		return err
	}
	shown.Cursor = p.placeCursor(c, next)
	return p.shown(c.r).Search(body, shown)
}

// results reads a page of results.
func (p *site) results(c *call, q entities.Query, shown *console.Search) (next entity.Place, err error) {
	for r, err := range p.svc.Entities().Each(c, q) {
		if err != nil {
			return entity.Place{}, err
		}
		if len(shown.Found) == q.Limit {
			return next, nil
		}
		next = r.Place()
		if r.Entity, err = narrowed(p.Server, c, r.Entity, nil); err != nil {
			return entity.Place{}, err
		}
		shown.Found = append(shown.Found, r)
	}
	return entity.Place{}, nil
}

// unfilled drops empty form fields.
func (q values) unfilled() {
	for name, text := range q {
		if repeated[name] {
			text = strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return s == "" }), "\n")
			q[name] = text
		}
		if text == "" {
			delete(q, name)
		}
	}
}

// jump redirects to the entity at an address that was typed as a name. Text that only might be an address, such as a
// number or text with a colon, is taken for a name if no entity has it.
func (p *site) jump(c *call) (found bool, err error) {
	text := strings.TrimSpace(c.query["q"])
	_, notID := locality.Parse(text)
	_, notPUID := entity.ParsePUID(text)
	if notID != nil && notPUID != nil && !strings.Contains(text, ":") {
		return false, nil
	}
	e, err := p.svc.Entities().Find(c, text)
	if err == nil {
		err = p.seen(c, text)
	}
	err = unseen(c, err)
	switch {
	case err == nil:
		// The page of a former id shows that it is one.
		http.Redirect(c.w, c.r, "/entities/"+e.Requested.String(), http.StatusSeeOther)
		return true, nil
	case notID != nil && !errors.Is(err, entity.ErrErased) && codes[toFault(err, "").Code].status < http.StatusInternalServerError:
		return false, nil
	default:
		return false, err
	}
}

func (p *site) entityPage(c *call, body *bytes.Buffer) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	whole, err := p.svc.Explain().Why(c, id)
	why, err := narrowed(p.Server, c, whole, err)
	if err != nil {
		return err
	}
	home, err := p.svc.Cells().Map().Entity(why.Entity.ID)
	if err != nil {
		return err
	}
	how, err := p.svc.Explain().How(c, why.Entity.ID)
	how, _ = narrowed(p.Server, c, how, err) // on error the page shows it as unknown
	return p.shown(c.r).Entity(body, console.Entity{
		Why: why, Schema: p.svc.Kinds().Schema(why.Entity.Kind), Home: home.String(), RecordPath: func(source, key string) string { return strings.TrimPrefix(RecordPath(source, key), "/v1") },
		How: how, Standing: p.around(c, why.Entity.ID), Author: c.author(), Hidden: access.From(c).Restriction.Hide,
	})
}

// file serves static files. A browser caches them and revalidates.
func (p *site) file(w http.ResponseWriter, r *http.Request) {
	f, ok := console.Static(r.PathValue("file"))
	if !ok {
		p.refuse(w, r, fault(CodeNotFound, "", "there is no such file"))
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("ETag", f.ETag)
	h.Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.Body))
}
