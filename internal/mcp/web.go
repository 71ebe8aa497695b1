// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locus-db/locus/internal/httpapi"
)

// Web serves the streamable HTTP transport. There are no sessions, so each process can serve each message, and a message
// has the permissions of its own sender.
func Web(version string) httpapi.Agents {
	schemas := sdk.NewSchemaCache()
	return func(w http.ResponseWriter, r *http.Request, call httpapi.Call, agent string, allow []string) error {
		o := &Options{Agent: agent, Allow: allow, Version: version}
		if err := o.check(); err != nil {
			return &httpapi.Fault{Code: httpapi.CodeInvalid, Pointer: "?agent", Detail: err.Error()}
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return fmt.Errorf("read the message: %w", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s := &Server{call: call, agent: agent}
		kinds := ""
		if !bytes.Contains(body, []byte(`"tools/`)) { // only the instructions name kinds
			if kinds, err = s.kinds(r.Context()); err != nil {
				return err
			}
		}
		s.build(o, kinds, schemas)
		sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true,
			DisableLocalhostProtection: true, // the API checks Host by itself
		}).ServeHTTP(w, r)
		return nil
	}
}
