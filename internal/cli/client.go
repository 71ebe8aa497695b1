// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/backend/all"
	"github.com/locus-db/locus/internal/httpapi"
)

// client speaks the HTTP API, to a server or to the handler in this process.
type client struct {
	base  *url.URL
	http  *http.Client
	close func() error
	// job names what is talked to, for those who come back to the same.
	job string
}

// errCut means that an answer broke off, so what was asked for may have been done.
var errCut = errors.New("the connection was cut")

// maxAnswer bounds what is read of an answer.
const maxAnswer = 256 << 20

// connect finds the data: --data on the command line, else --url or LOCUS_URL, else the directory.
// A command that only reads does not make a directory.
func (a *app) connect(c *cobra.Command, create bool) (*client, error) {
	flags := c.Flags()
	if flags.Changed("url") && flags.Changed("data") {
		return nil, usage("give one of them", "--url names a server and --data a directory: both cannot be meant")
	}
	if a.url != "" && !flags.Changed("data") {
		return dial(a.url)
	}
	return openClient(c.Context(), a.data, create)
}

// connected runs a command with a client that only reads. What has to read its arguments first connects by itself.
func (a *app) connected(run func(c *cobra.Command, cl *client, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		cl, err := a.connect(c, false)
		if err != nil {
			return err
		}
		defer cl.close()
		return run(c, cl, args)
	}
}

func dial(address string) (*client, error) {
	base, err := url.Parse(address)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.User != nil {
		return nil, usage("--url http://127.0.0.1:7070", "the address of the server is not one: want http://HOST:PORT")
	}
	base.Path = ""
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // the standard library says so
	transport.MaxIdleConnsPerHost = 8
	return &client{
		base: base, job: base.String(), http: &http.Client{Transport: transport, Timeout: 60 * time.Second},
		close: func() error { transport.CloseIdleConnections(); return nil },
	}, nil
}

// openClient opens a data directory and talks to its handler without a network.
func openClient(ctx context.Context, dir string, create bool) (*client, error) {
	svc, err := open(ctx, dir, &all.Options{MustExist: !create}, nil)
	if err != nil {
		return nil, err
	}
	server := httpapi.New(svc, &httpapi.Options{Version: version(), RequestTimeout: time.Minute})
	return &client{
		base: &url.URL{Scheme: "http", Host: "localhost"}, job: "data " + dir,
		http: &http.Client{Transport: &inProcess{server}}, close: svc.Close,
	}, nil
}

// open opens a data directory.
func open(ctx context.Context, dir string, options *all.Options, service *locus.Options) (*locus.Service, error) {
	options.Rules = locus.Rules(service)
	cells, err := all.Open(ctx, dir, options)
	if err != nil {
		return nil, fmt.Errorf("open the data: %w", err)
	}
	svc, err := locus.Open(ctx, cells, service)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the data: %w", err), cells.Close())
	}
	return svc, nil
}

// get asks and decodes the answer into out, unless it is nil; raw is the answer as it came.
func (c *client) get(ctx context.Context, path string, query url.Values, out any) (raw json.RawMessage, err error) {
	return c.do(ctx, http.MethodGet, path, query, nil, out)
}

// do sends one request. A refusal is a *httpapi.Problem.
func (c *client) do(ctx context.Context, method, path string, query url.Values, body []byte, out any) (json.RawMessage, error) {
	target, err := c.base.Parse(path)
	if err != nil {
		return nil, fmt.Errorf("ask for %.80q: %w", path, err)
	}
	target.RawQuery = query.Encode()
	var content io.Reader = http.NoBody
	if body != nil {
		content = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), content)
	if err != nil {
		return nil, fmt.Errorf("ask for %.80q: %w", path, err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w: %w", errCut, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, refusal(response, raw)
	}
	if out != nil {
		if err := json.Unmarshal(raw, out); err != nil {
			return nil, fmt.Errorf("read the answer of %s: is a server of Locus there? %w", target.Redacted(), err)
		}
	}
	return raw, nil
}

// refusal makes an error of an answer other than 200.
func refusal(response *http.Response, raw []byte) error {
	var p httpapi.Problem
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if media != "application/problem+json" || json.Unmarshal(raw, &p) != nil || p.Code == "" {
		return &failure{
			Code: "unavailable", Outcome: httpapi.Unknown, Exit: exitUnavailable,
			Message: fmt.Sprintf("%s does not answer like a server of Locus: status %d", response.Request.URL.Host, response.StatusCode),
			Hint:    "see whether --url is right",
		}
	}
	return &p
}

// gone tells whether an error says that something is not there, or not any more, and in which words.
func gone(err error) (*httpapi.Problem, bool) {
	p, ok := errors.AsType[*httpapi.Problem](err)
	return p, ok && (p.Code == httpapi.CodeNotFound || p.Code == httpapi.CodeErased)
}

// inProcess is a transport that calls a handler.
type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t *inProcess) RoundTrip(request *http.Request) (response *http.Response, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("answer %s %s: cut off: %v", request.Method, request.URL.Path, cause)
		}
	}()
	r := request.Clone(request.Context())
	if r.Body == nil {
		r.Body = http.NoBody
	}
	r.RequestURI = request.URL.RequestURI()
	r.RemoteAddr = "127.0.0.1:0"
	r.Host = request.URL.Host
	w := &recorder{header: http.Header{}}
	t.handler.ServeHTTP(w, r)
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: request,
	}, nil
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
