// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/records"
)

// target returns the destination of records: the library, or the HTTP API over a local connection.
func target(o options, s *locus.DB) (put func(context.Context, []demo.Record) error, closeAPI func() error, err error) {
	switch o.via {
	case "library":
		return func(ctx context.Context, records []demo.Record) error { return putLibrary(ctx, s, records) },
			func() error { return nil }, nil
	case "http":
		return overHTTP(s, o.clients)
	}
	return nil, nil, fmt.Errorf("-via is library or http, not %q", o.via)
}

func putLibrary(ctx context.Context, s *locus.DB, demos []demo.Record) error {
	puts := make([]records.Input, len(demos))
	for i, r := range demos {
		puts[i] = records.Input{Ref: entity.Ref{Source: r.Source, Key: r.Key}, Attributes: r.Attributes}
	}
	results, err := s.Records().Put(ctx, puts)
	if err != nil {
		return err
	}
	for _, r := range results {
		if r.Err != nil {
			return fmt.Errorf("%v: %w", r.Ref, r.Err)
		}
	}
	return nil
}

func overHTTP(s *locus.DB, clients int) (func(context.Context, []demo.Record) error, func() error, error) {
	api := httpapi.New(s, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- api.Serve(ctx, listener) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	url := "http://" + listener.Addr().String() + "/v1/records"
	put := func(ctx context.Context, records []demo.Record) error {
		var body httpapi.PutRequest
		for _, r := range records {
			body.Records = append(body.Records, httpapi.RecordInput{Source: r.Source, Key: r.Key, Attributes: r.Attributes})
		}
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK || bytes.Contains(answer, []byte(`"error"`)) {
			return fmt.Errorf("%s: %.300s", res.Status, answer)
		}
		return nil
	}
	return put, func() error { cancel(); return <-served }, nil
}
