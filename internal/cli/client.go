// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/records"
	_ "github.com/locus-db/locus/storage/all"
)

// client calls the HTTP API of a server, or of a handler in this process.
type client struct {
	base  *url.URL
	http  *http.Client
	close func() error
	// job identifies the installation in the state of an import.
	job string
	// parent is the W3C traceparent that a script has given the command, "" for none.
	parent string
	// alone reports that no other process uses the data during this command.
	alone bool
	// opened are the records of an installation that this command has opened with loads; nil otherwise.
	opened *records.Handle
	// loading is "load" or "first load" if rows are resolved once all are stored, "" if they are resolved as they
	// arrive.
	loading string
}

// errCut means that an answer was cut off, so the request may have been applied.
var errCut = errors.New("the connection was cut")

// maxAnswer limits the bytes read of an answer.
const maxAnswer = 256 << 20

// opening is the access that a command needs to an installation that it opens itself.
type opening int

const (
	looks       opening = iota // writes nothing at all
	reads                      // does not change records or the cell map
	writes                     // as a server does
	makes                      // like writes, and creates a missing installation
	loads                      // like writes, and records stay unresolved until they are loaded or released
	makesToLoad                // makes and loads
)

// connect connects to the server, or opens the data.
func (a *app) connect(c *cobra.Command, to opening) (*client, error) {
	w, err := a.locate(c)
	if err != nil {
		return nil, err
	}
	if w.server != "" || flagged(c, "url") {
		token, err := a.credential(c)
		if err != nil {
			return nil, err
		}
		cl, err := dial(w.server)
		if err != nil {
			return nil, err
		}
		cl.parent = a.env["TRACEPARENT"]
		of, err := a.context(w.server)
		if err != nil {
			return nil, err
		}
		if of != nil {
			cl.trust(of.CA)
			if token.Empty() {
				if token, err = of.valid(); err != nil {
					return nil, err
				}
			}
		}
		return cl, cl.prove(token)
	}
	if !w.shared {
		if cl := dialSocket(c.Context(), w); cl != nil {
			cl.parent = a.env["TRACEPARENT"]
			return cl, nil
		}
	}
	return a.openClient(c.Context(), w, to)
}

func flagged(c *cobra.Command, name string) bool { return c.Flags().Changed(name) }

// connected runs a command with a client that only reads. A command that must check its arguments first calls connect
// itself.
func (a *app) connected(run func(c *cobra.Command, cl *client, args []string) error) func(*cobra.Command, []string) error {
	return a.connectedTo(reads, run)
}

// connectedTo is connected with the given access.
func (a *app) connectedTo(to opening, run func(c *cobra.Command, cl *client, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		cl, err := a.connect(c, to)
		if err != nil {
			return err
		}
		defer cl.close()
		return run(c, cl, args)
	}
}

// get sends a GET request and decodes the answer into out, unless it is nil; raw is the JSON of the answer.
func (c *client) get(ctx context.Context, path string, query url.Values, out any) (raw json.RawMessage, err error) {
	return c.do(ctx, http.MethodGet, path, query, nil, out)
}

// do sends one request. A refusal is a *httpapi.Problem.
func (c *client) do(ctx context.Context, method, path string, query url.Values, body []byte,
	out any) (json.RawMessage, error) {
	raw, _, err := c.exchange(ctx, question{method: method, path: path, query: query, body: body}, out)
	return raw, err
}

type question struct {
	method, path string
	query        url.Values
	body         []byte
	media        string // of the body; JSON if empty
	accept       string // requested media type, where there is a choice
	key          string // idempotency key
}

// exchange is do, and also returns the status of the answer, which is a success.
func (c *client) exchange(ctx context.Context, q question, out any) (raw json.RawMessage, status int, err error) {
	response, err := c.send(ctx, c.http, q)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	raw, err = decodeAnswer(response, out)
	return raw, response.StatusCode, err
}

// decodeAnswer reads a whole answer and decodes it into out, unless that is nil.
func decodeAnswer(response *http.Response, out any) (json.RawMessage, error) {
	raw, err := readAnswer(response)
	if err != nil || out == nil {
		return raw, err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, foreign(response, err)
	}
	return raw, nil
}

// readAnswer reads a whole answer. A refusal is a *httpapi.Problem.
func readAnswer(response *http.Response) (json.RawMessage, error) {
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w: %w", errCut, err)
	}
	if response.StatusCode/100 != http.StatusOK/100 {
		return nil, refusal(response, raw)
	}
	return raw, nil
}

// send sends a request and returns the response as soon as it begins.
func (c *client) send(ctx context.Context, over *http.Client, q question) (*http.Response, error) {
	target, err := c.base.Parse(q.path)
	if err != nil {
		return nil, fmt.Errorf("ask for %.80q: %w", q.path, err)
	}
	target.RawQuery = q.query.Encode()
	var content io.Reader = http.NoBody
	if q.body != nil {
		content = bytes.NewReader(q.body)
	}
	request, err := http.NewRequestWithContext(ctx, q.method, target.String(), content)
	if err != nil {
		return nil, fmt.Errorf("ask for %.80q: %w", q.path, err)
	}
	if q.body != nil {
		request.Header.Set("Content-Type", cmp.Or(q.media, "application/json"))
	}
	if q.accept != "" {
		request.Header.Set("Accept", q.accept)
	}
	if c.parent != "" {
		request.Header.Set("traceparent", c.parent)
	}
	if q.key != "" {
		request.Header.Set("Idempotency-Key", q.key)
	}
	response, err := over.Do(request)
	if errors.Is(err, io.EOF) { // from a server that is being killed
		err = fmt.Errorf("%w: %w", errCut, err)
	}
	return response, err
}

// foreign returns the error for an answer that a Locus server would not write.
func foreign(response *http.Response, err error) error {
	return fmt.Errorf("read the response of %s: is it a Locus server? %w", response.Request.URL.Redacted(), err)
}

// refusal converts a failed response to an error.
func refusal(response *http.Response, raw []byte) error {
	var p httpapi.Problem
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if media != "application/problem+json" || json.Unmarshal(raw, &p) != nil || p.Code == "" {
		return &failure{
			Code: "unavailable", Outcome: httpapi.Unknown, Exit: exitUnavailable,
			Message: fmt.Sprintf("%s does not respond like a Locus server: status %d", response.Request.URL.Host,
				response.StatusCode),
			Hint: "check --url",
		}
	}
	return &p
}

// gone returns the problem and reports whether err says that something does not exist or was erased.
func gone(err error) (*httpapi.Problem, bool) {
	p, ok := errors.AsType[*httpapi.Problem](err)
	return p, ok && (p.Code == httpapi.CodeNotFound || p.Code == httpapi.CodeErased)
}
