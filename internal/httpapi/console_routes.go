// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/internal/login"
)

// registerConsole registers the pages, their files and their events.
func (s *Server) registerConsole() {
	s.pages = console.New(s.opts.Version).With(s.opts.Banner)
	p := &site{Server: s, streaming: make(chan struct{}, maxStreams), looks: newLooks()}
	s.handle("GET /{$}", access.All(access.Read).Narrowed(),
		p.page(&route{path: "/", class: reads, price: priceSearch}, p.homePage))
	s.handle("GET /operations", access.All(access.Read).Masked(),
		p.page(&route{path: "/operations", class: reads, price: priceSearch}, p.operationsPage))
	s.handle("GET /ring", access.All(access.Read).Masked(), p.page(&route{
		path: "/ring", class: reads, query: []param{{name: "address"}, {name: "from"}},
	}, p.ringPage))
	s.handle("GET /rollups", access.All(access.Read).Narrowed(),
		p.page(&route{path: "/rollups", class: reads}, p.rollupsPage))
	groups := []param{{name: "by"}, {name: "order"}, {name: "page"}, {name: "after"}, {name: "g1"}, {name: "g2"},
		{name: "g3"}}
	s.handle("GET /rollups/{name}", access.All(access.Read).Narrowed(),
		p.page(&route{path: "/rollups/{name}", class: reads, query: groups}, p.rollupPage))
	s.handle("GET /rollups/{name}/csv", access.All(access.Read).Narrowed(),
		p.page(&route{path: "/rollups/{name}/csv", class: reads, query: groups}, p.rollupFile))
	s.handle("GET /define", access.All(access.Read).Narrowed(),
		p.page(&route{path: "/define", class: reads, query: []param{{name: "rollup"}}}, p.definePage))
	s.handle("POST /define", access.All(access.Read, access.Define),
		p.posted(&route{path: "/define", class: writes}, p.defineForm))
	s.handle("GET /counters", access.All(access.Read).Masked(), p.page(&route{
		path: "/counters", class: reads, query: []param{{name: "prefix"}, {name: "after"}},
	}, p.countersPage))
	s.handle("GET /counters/metric", access.All(access.Read).Masked(), p.page(&route{
		path: "/counters/metric", class: reads, query: []param{{name: "name"}, {name: "day"}},
	}, p.metricPage))
	charted := []param{{name: "name"}, {name: "from"}, {name: "to"}, {name: "step"}, {name: "zone"}, {name: "with"},
		{name: "before"}, {name: "theme"}, {name: "size"}, {name: "now"}}
	s.handle("GET /counters/chart", access.All(access.Read).Masked(),
		p.page(&route{path: "/counters/chart", class: reads, query: charted[:7]}, p.chartPage))
	s.handle("GET /counters/chart/csv", access.All(access.Read).Masked(),
		p.page(&route{path: "/counters/chart/csv", class: reads, query: charted[:7]}, p.chartFile))
	s.handle("GET /counters/chart/picture", access.All(access.Read).Masked(),
		p.page(&route{path: "/counters/chart/picture", class: reads, query: charted}, p.chartPicture))
	s.handle("GET /counters/picture", access.All(access.Read).Masked(), p.page(&route{
		path: "/counters/picture", class: reads,
		query: []param{{name: "name"}, {name: "view"}, {name: "day"}, {name: "theme"}, {name: "size"}, {name: "at"}},
	}, p.picture))
	s.handle("GET /entities", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/entities", class: reads, price: priceSearch,
		query: []param{
			{name: "q"}, {name: "attribute"}, {name: "value"}, {name: "filter"}, {name: "has"}, {name: "without"},
			{name: "kind"}, {name: "order"}, {name: "typos"}, {name: "cursor"},
		},
	}, p.searchPage))
	s.handle("GET /entities/{id}", access.All(access.Read).Narrowed(),
		p.page(&route{path: "/entities/{id}", class: reads}, p.entityPage))
	s.handle("GET /entities/{id}/what-if", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/entities/{id}/what-if", class: reads,
		query: []param{{name: "without"}, {name: "apart"}, {name: "merge"}, {name: "pin"}, {name: "value"}, {name: "anchor"}},
	}, p.whatIfPage))
	s.handle("GET /review", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/review", class: reads, price: priceSearch, query: []param{
			{name: "a"}, {name: "b"}, {name: "said"}, {name: "of"}, {name: "source"}, {name: "kind"},
			{name: "attribute"}, {name: "bits"}, {name: "skip"}, {name: "order"}, {name: "assigned"},
		},
	}, p.reviewPage))
	s.handle("GET /review/bulk", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/review/bulk", class: reads, price: priceSearch, query: []param{
			{name: "verdict"}, {name: "pair"}, {name: "source"}, {name: "kind"}, {name: "attribute"}, {name: "bits"},
			{name: "assigned"},
		},
	}, p.bulkPage))
	s.handle("GET /review/team", access.All(access.Read).Narrowed(), p.page(&route{
		path: "/review/team", class: reads, price: priceSearch,
		query: []param{{name: "batch"}, {name: "assigned"}, {name: "to"}},
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
	s.handle("GET /kinds/draft", access.All(access.Schema),
		p.page(&route{path: "/kinds/draft", class: reads, query: []param{{name: "kind"}}}, p.draftPage))
	s.handle("POST /kinds/draft", access.All(access.Schema, access.Read, access.Define),
		p.posted(&route{path: "/kinds/draft", class: admin}, p.judgeDraft))
	s.handle("POST /decisions", access.All(access.Decide).Narrowed(), p.form("/decisions", p.decideForm))
	s.handle("POST /entities/{id}/merge", access.All(access.Decide).Narrowed(),
		p.form("/entities/{id}/merge", p.mergeForm))
	s.handle("POST /entities/{id}/unmerge", access.All(access.Decide).Narrowed(),
		p.form("/entities/{id}/unmerge", p.unmergeForm))
	s.handle("GET /login", access.Public(),
		p.page(&route{path: "/login", class: reads, query: []param{{name: "to"}}}, p.loginPage))
	s.handle("POST /login", access.Public(), p.login)
	s.handle("GET /login/provider", access.Public(),
		p.page(&route{path: "/login/provider", class: reads, query: []param{{name: "to"}}}, p.toProvider))
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
