// SPDX-License-Identifier: Apache-2.0

package sinks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/sink"
	_ "github.com/locus-db/locus/sink/webhook"
	"github.com/locus-db/locus/sinks"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// A webhook hears of a record.
func Example() {
	events := make(chan sink.Event, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e sink.Event
		check(json.NewDecoder(r.Body).Decode(&e))
		events <- e
	}))
	defer receiver.Close()
	dir, err := os.MkdirTemp("", "sinks")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := locus.Open(ctx, dir, &locus.Options{Sinks: &sinks.Options{}})
	check(err)
	defer db.Close()

	_, _, err = db.Sinks().Create(ctx, sinks.Definition{Name: "hook", To: receiver.URL})
	check(err)
	_, err = db.Records().Put(ctx, []records.Input{
		{Ref: entity.Ref{Source: "chamber", Key: "1"}, Attributes: entity.Attributes{"name": {"Joes Pizza"}}},
	})
	check(err)
	e := <-events
	fmt.Println(e.Op, e.Kind, e.Records, e.View["name"])
	// Output: upsert place [chamber:1] Joes Pizza
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
