// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/internal/login"
)

// registerConsole registers the pages, their files and their events.
func (s *Server) registerConsole() {
	s.pages = console.New(s.opts.Version).With(s.opts.Banner)
	p := &site{Server: s, streaming: make(chan struct{}, maxStreams), looks: newLooks()}
	narrowed, masked := access.All(access.Read).Narrowed(), access.All(access.Read).Masked()
	p.show("/{$}", narrowed, priceSearch, p.homePage)
	p.show("/operations", masked, priceSearch, p.operationsPage)
	p.show("/ring", masked, 0, p.ringPage, "address", "from")
	p.show("/streams", narrowed, 0, p.streamsPage)
	p.show("/data", masked, priceSearch, p.dataPage)
	imports := access.All(access.Read, access.Write).BySource()
	s.handle("POST /data/preview", imports, p.fromFile("/data/preview", audit.Read, p.previewPart))
	s.handle("POST /data/import", imports, p.fromFile("/data/import", audit.Write, p.importPart))
	s.handle("POST /data/imported", imports, p.fromFile("/data/imported", audit.Write, p.reportImport))
	p.registerCounts(narrowed, masked)
	p.registerEntities(narrowed)
	p.registerKinds(narrowed)
	p.registerLogin()
	s.handle("GET /static/{file}", access.Public(), p.file)
	s.handle("GET /events", masked, p.events)
	p.registerJSON()
}

// show registers a page with the parameters of its query. price is that of call.price.
func (p *site) show(path string, needs access.Rule, price int, render func(*call, *bytes.Buffer) error, query ...string) {
	rt := &route{path: strings.TrimSuffix(path, "{$}"), class: reads, price: price}
	for _, name := range query {
		rt.query = append(rt.query, param{name: name})
	}
	p.handle("GET "+path, needs, p.page(rt, render))
}

// registerCounts registers the pages of rollups and of counters.
func (p *site) registerCounts(narrowed, masked access.Rule) {
	p.show("/rollups", narrowed, 0, p.rollupsPage)
	groups := []string{"by", "order", "page", "after", "g1", "g2", "g3"}
	p.show("/rollups/{name}", narrowed, 0, p.rollupPage, groups...)
	p.show("/rollups/{name}/csv", narrowed, 0, p.rollupFile, groups...)
	p.show("/define", narrowed, 0, p.definePage, "rollup")
	p.handle("POST /define", access.All(access.Read, access.Define),
		p.posted(&route{path: "/define", class: writes}, p.defineForm))
	p.show("/counters", masked, 0, p.countersPage, "prefix", "after")
	p.show("/counters/metric", masked, 0, p.metricPage, "name", "day")
	p.show("/counters/picture", masked, 0, p.picture, "name", "view", "day", "theme", "size", "at")
	chart := []string{"name", "from", "to", "step", "zone", "with", "before"}
	p.show("/counters/chart", masked, 0, p.chartPage, chart...)
	p.show("/counters/chart/csv", masked, 0, p.chartFile, chart...)
	p.show("/counters/chart/picture", masked, 0, p.chartPicture, append(chart, "theme", "size", "now")...)
}

// registerEntities registers the pages of entities and of the review queue, and the forms that decide.
func (p *site) registerEntities(narrowed access.Rule) {
	p.show("/entities", narrowed, priceSearch, p.searchPage,
		"q", "attribute", "value", "filter", "has", "without", "kind", "order", "typos", "cursor")
	p.show("/entities/{id}", narrowed, 0, p.entityPage)
	p.show("/entities/{id}/what-if", narrowed, 0, p.whatIfPage, "without", "apart", "merge", "pin", "value", "anchor")
	p.show("/review", narrowed, priceSearch, p.reviewPage,
		"a", "b", "said", "of", "source", "kind", "attribute", "bits", "skip", "order", "assigned")
	p.show("/review/bulk", narrowed, priceSearch, p.bulkPage,
		"verdict", "pair", "source", "kind", "attribute", "bits", "assigned")
	p.show("/review/team", narrowed, priceSearch, p.teamPage, "batch", "assigned", "to")
	decides := access.All(access.Decide).Narrowed()
	p.handle("POST /review/bulk", decides, p.form("/review/bulk", p.bulkForm))
	p.handle("POST /review/undo", decides, p.form("/review/undo", p.undoForm))
	p.handle("POST /review/assign", decides, p.form("/review/assign", p.assignForm))
	p.handle("POST /decisions", decides, p.form("/decisions", p.decideForm))
	p.handle("POST /entities/{id}/merge", decides, p.form("/entities/{id}/merge", p.mergeForm))
	p.handle("POST /entities/{id}/unmerge", decides, p.form("/entities/{id}/unmerge", p.unmergeForm))
}

// registerKinds registers the pages of kinds and of the quality of the data.
func (p *site) registerKinds(narrowed access.Rule) {
	p.show("/quality", narrowed, priceSearch, p.qualityPage, "kind", "threshold")
	p.show("/kinds", access.All(access.Schema).Narrowed(), 0, p.kindsPage)
	p.show("/kinds/try", access.All(access.Read, access.Schema), 0, p.tryPage, "kind", "a", "b")
	p.show("/kinds/draft", access.All(access.Schema), 0, p.draftPage, "kind")
	p.handle("POST /kinds/draft", access.All(access.Schema, access.Read, access.Define),
		p.posted(&route{path: "/kinds/draft", class: admin}, p.judgeDraft))
}

// registerLogin registers signing in and out.
func (p *site) registerLogin() {
	p.show("/login", access.Public(), 0, p.loginPage, "to")
	p.handle("POST /login", access.Public(), p.login)
	p.show("/login/provider", access.Public(), 0, p.toProvider, "to")
	p.show(login.Callback, access.Public(), 0, p.fromProvider)
	p.show("/login/cli", access.Anyone().Narrowed(), 0, p.grantPage, "challenge", "port", "state")
	p.handle("POST /login/cli", access.Anyone().Narrowed(), p.grant)
	p.handle("POST /logout", access.Public(), p.logout)
}

// registerJSON registers the JSON that pages link to, at paths of its own, because the API takes no cookie.
func (p *site) registerJSON() {
	paths := map[string]string{
		"/v1/entities/{id}":             "/entities/{id}/json",
		"/v1/series":                    "/counters/series",
		"/v1/records/{source}/{key...}": "/records/{source}/{key...}",
	}
	for _, rt := range p.routes() {
		if at := paths[rt.path]; at != "" && rt.method == http.MethodGet {
			rt.path = at
			p.register(&rt)
		}
	}
}
