// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locus-db/locus/internal/httpapi"
)

// Web serves the streamable HTTP transport. There are no sessions, so each process can serve each message, and a
// message has the permissions of its own sender.
func Web(version string) httpapi.Agents {
	schemas := sdk.NewSchemaCache()
	return func(w http.ResponseWriter, r *http.Request, body []byte, call httpapi.Call, agent string, allow []string) error {
		o := &Options{Agent: agent, Allow: allow, Version: version}
		if err := o.check(); err != nil {
			return &httpapi.Fault{Code: httpapi.CodeInvalid, Pointer: "?agent", Detail: err.Error()}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s := &Server{call: call, agent: agent}
		kinds, err := "", error(nil)
		if !bytes.Contains(body, []byte(`"tools/`)) { // only the instructions name kinds
			if kinds, err = s.kinds(r.Context()); err != nil {
				return err
			}
		}
		s.build(o, kinds, schemas, called(body))
		sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true,
			DisableLocalhostProtection: true, // the API checks Host by itself
		}).ServeHTTP(w, r)
		return nil
	}
}

// called returns the tool that a message calls, "" if it does anything else. Tools that are not called need not be
// made, which takes longer than most calls.
func called(body []byte) string {
	var message struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	if err := json.Unmarshal(body, &message); err != nil || message.Method != "tools/call" {
		return ""
	}
	return message.Params.Name
}
