// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/intake"
	_ "github.com/locus-db/locus/source/nats"
	"github.com/locus-db/locus/sources"
)

// The page of streams shows the same as the JSON routes.
func TestConsole_Streams(t *testing.T) {
	t.Parallel()
	db, err := locus.Open(t.Context(), blank.Dir(t, 2),
		&locus.Options{Sources: &sources.Options{Compile: intake.Compile, DefineOnly: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	f := &fixture{t, db, httpapi.New(db, nil)}
	json := []string{"Content-Type", "application/json"}
	with[httpapi.Sink](f.do(http.MethodPut, "/v1/sinks/hook", `{"to": "https://crm.example/locus", "kind": "place"}`,
		json...), http.StatusCreated)
	with[httpapi.Source](f.do(http.MethodPut, "/v1/sources/crm", `{"from": "nats://bus.example/CRM"}`, json...),
		http.StatusCreated)
	of := decode[httpapi.Source](f.do(http.MethodPost, "/v1/sources/crm/pause", ""))
	sink := decode[httpapi.Sink](f.get("/v1/sinks/hook"))
	page := f.get("/streams").page(200)
	f.says(page, `id="sink-hook"`, ">"+sink.State+"<", sink.To, "Entities of: <b><bdi>place</bdi></b>", `id="source-crm"`,
		of.Stream.From, ">"+of.Stream.State+"<", "locus sink show hook")
	if strings.Contains(page, "dead list") {
		t.Error("the page lists dead letters that there are not")
	}
}

func TestConsole_NoStreams(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.says(f.get("/streams").page(200), "locus sink create --help", "locus source create --help")
}
