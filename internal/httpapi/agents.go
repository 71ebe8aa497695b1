// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/locus-db/locus/internal/access"
)

// Agents serves a request of the Model Context Protocol. Its caller is the agent with a name, "" for none, and may use
// the tools named by allow in addition to tools that only read. body is the body of r, which has been read. It returns
// an error only before it has written to w.
type Agents func(w http.ResponseWriter, r *http.Request, body []byte, call Call, agent string, allow []string) error

// Call sends a request to the API and decodes the response into out. A refusal is a *Problem.
type Call func(ctx context.Context, method, path string, query url.Values, body []byte, out any) error

// storing are the tools that store, with the permission of each.
var storing = map[string]access.Permission{"remember": access.Write, "decide": access.Decide}

// agents serves POST /mcp. Every tool sends its own requests, with the credential of this one, so that permissions,
// rates and the audit log apply to each.
func (s *Server) agents(c *call) (any, error) {
	if s.opts.Agents == nil {
		return nil, fault(CodeNotFound, "", "this server has no tools for agents")
	}
	var allow []string
	if c.query["allow"] != "" {
		allow = strings.Split(c.query["allow"], ",")
	}
	for _, tool := range allow {
		needs, known := storing[tool]
		if !known {
			return nil, fault(CodeInvalid, "?allow", "%.60q is not a tool that stores: remember, decide", tool)
		}
		if _, err := require(access.From(c), access.All(needs).BySource().Narrowed()); err != nil {
			return nil, err
		}
	}
	r := c.r.WithContext(c)
	return nil, s.opts.Agents(c.w, r, c.body, s.callAs(r), c.query["agent"], allow)
}

// credentials are the headers that identify the sender of a request, and its address.
var credentials = []string{"Authorization", "Origin", "Sec-Fetch-Site", "X-Forwarded-For"}

// callAs returns a Call whose requests come from the sender of another request.
func (s *Server) callAs(of *http.Request) Call {
	return func(ctx context.Context, method, path string, query url.Values, body []byte, out any) error {
		target := url.URL{Path: path, RawQuery: query.Encode()}
		within, cancel := context.WithCancel(of.Context())
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		r, err := http.NewRequestWithContext(within, method, target.String(), bytes.NewReader(body))
		if err != nil {
			return fmt.Errorf("make a request: %w", err)
		}
		r.Host, r.RemoteAddr, r.TLS, r.RequestURI = of.Host, of.RemoteAddr, of.TLS, target.RequestURI()
		for _, name := range credentials {
			if values := of.Header.Values(name); len(values) > 0 {
				r.Header[name] = values
			}
		}
		if body != nil {
			r.Header.Set("Content-Type", mediaJSON)
		}
		w := &kept{probe: probe{header: http.Header{}}}
		s.ServeHTTP(w, r)
		if w.status/100 != 2 {
			p := &Problem{}
			if err := json.Unmarshal(w.body.Bytes(), p); err != nil {
				return fmt.Errorf("%s %s: status %d: %w", method, path, w.status, err)
			}
			return p
		}
		if err := json.Unmarshal(w.body.Bytes(), out); err != nil {
			return fmt.Errorf("%s %s: read the response: %w", method, path, err)
		}
		return nil
	}
}

// kept keeps a response in memory.
type kept struct {
	probe

	body bytes.Buffer
}

func (w *kept) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
