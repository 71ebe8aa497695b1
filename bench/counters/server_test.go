// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/locus-db/locus/client"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// served is Locus behind its HTTP API, in a process of its own like Redis.
type served struct {
	stored
	place   string
	base    string
	process *process
	client  *http.Client
}

// openServer starts locus serve over one cell in a kind of database.
func openServer(kind string) func(context.Context, *bench, setting) (target, error) {
	return func(ctx context.Context, b *bench, s setting) (target, error) {
		binary, err := os.Executable()
		if err != nil {
			return nil, err
		}
		port, err := free()
		if err != nil {
			return nil, err
		}
		v := &served{place: b.place(kind), base: "http://" + port}
		v.names = names(s.metrics)
		v.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: s.callers, MaxConnsPerHost: s.callers}}
		where := "--data"
		if kind == "postgres" {
			where = "--map"
		}
		v.process, err = b.start(func() error { return v.ready(ctx) }, binary, "serve", where, v.place, "--cells", "1", "--addr", port)
		return v, err
	}
}

// asLocus is the environment variable that makes the test binary run as the program locus, so that nothing must be
// built.
const asLocus = "LOCUS_BENCH_SERVE"

// free returns an unused port.
func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (s *served) ready(ctx context.Context) error {
	_, err := s.do(ctx, http.MethodGet, "/readyz", nil, "")
	return err
}

// hits is a body of POST /v1/hits.
type hits struct {
	Hits []hit `json:"hits"`
}

type hit struct {
	Metric string `json:"metric"`
	N      int64  `json:"n"`
}

// add sends one request. The hits get the current time of the server, whereas hits sent to Redis get the client's.
func (s *served) add(ctx context.Context, _ int, c call) error {
	body := hits{Hits: make([]hit, len(c.metrics))}
	for i, m := range c.metrics {
		body.Hits[i] = hit{s.names[m], 1}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	answer, err := s.do(ctx, http.MethodPost, "/v1/hits", text, c.key)
	if err == nil && bytes.Contains(answer, []byte(`"error"`)) {
		err = fmt.Errorf("refused: %.300s", answer)
	}
	return err
}

func (s *served) do(ctx context.Context, method, path string, body []byte, key string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.300s", res.Status, answer)
	}
	return answer, err
}

// sums stops the server and opens its files, which only one process may open.
func (s *served) sums(ctx context.Context) (all []int64, err error) {
	if err := s.close(); err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.cells.Close()) }()
	return s.stored.sums(ctx)
}

func (s *served) open(ctx context.Context) (err error) {
	s.cells, err = storage.Open(ctx, s.place, &storage.Options{Cells: 1, MustExist: true, Notice: time.Minute})
	return err
}

func (s *served) close() error {
	s.client.CloseIdleConnections()
	s.process.stop()
	return nil
}

// combining is callers in one program behind the same server: they share a client, which batches the hits that
// arrive while a request is in flight.
type combining struct {
	*served
	metrics []counter.Metric
	shared  *client.Client
}

// openClient starts locus serve and creates a client for it.
func openClient(kind string) func(context.Context, *bench, setting) (target, error) {
	return func(ctx context.Context, b *bench, s setting) (target, error) {
		t, err := openServer(kind)(ctx, b, s)
		if err != nil {
			return nil, err
		}
		c := &combining{served: t.(*served)} //nolint:forcetypeassert // it opens that
		for _, name := range c.names {
			c.metrics = append(c.metrics, counter.Metric(name))
		}
		c.shared, err = client.New(c.base, &client.Options{HTTP: c.client})
		return c, err
	}
}

func (c *combining) add(ctx context.Context, _ int, call call) error {
	hits := make([]counter.Hit, len(call.metrics))
	for i, m := range call.metrics {
		hits[i] = counter.Hit{Metric: c.metrics[m], N: 1}
	}
	results, err := c.shared.Add(ctx, hits)
	return cmp.Or(err, errors.Join(results...))
}

func (c *combining) sums(ctx context.Context) ([]int64, error) {
	if err := c.shared.Close(ctx); err != nil {
		return nil, err
	}
	return c.served.sums(ctx)
}

func (c *combining) close() error {
	return errors.Join(c.shared.Close(context.Background()), c.served.close())
}
