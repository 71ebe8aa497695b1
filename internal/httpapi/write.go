// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
)

// maxBody is the maximum size of a body in bytes.
const maxBody = 1 << 20

// writeJSON sends a whole answer. An unmarshalable value is a bug, answered by the guard.
func writeJSON(w http.ResponseWriter, status int, contentType string, value any) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	writeWhole(w, status, contentType, body.Bytes())
}

// writeWhole sends a complete answer.
func writeWhole(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has left
}

// Media types of bodies.
const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
)

// readBody reads the body of a call, which must have one of the types. It rejects as much as possible by the headers,
// before reading. free releases the memory of the body.
func (s *Server) readBody(c *call, types ...string) (free func(), err error) {
	if err := checkBody(c.r, types); err != nil {
		c.w.Header().Set("Connection", "close") // otherwise the answer would wait for the rest of the body
		return nil, err
	}
	defer s.connections.receive(connectionOf(c.r.Context()))()
	body, free, err := s.bodies.read(c.w, c.r, s.clientOf(c.r))
	if err != nil {
		c.w.Header().Set("Connection", "close")
		free()
		return nil, err
	}
	c.body = body
	return free, nil
}

func checkBody(r *http.Request, types []string) error {
	if len(r.Header["Content-Encoding"]) > 0 {
		return fault(CodeMediaType, "", "Content-Encoding is not supported: send the document uncompressed")
	}
	if is := r.Header["Content-Type"]; len(is) != 1 || !slices.Contains(types, mediaOf(is[0])) {
		return fault(CodeMediaType, "", "want the header Content-Type: %s, without a charset or with utf-8",
			strings.Join(types, " or "))
	}
	if r.ContentLength > maxBody {
		return tooLarge()
	}
	return nil
}

func tooLarge() error {
	return fault(CodeTooLarge, "", "the body is larger than %d bytes: send smaller batches", maxBody)
}

func bodyFault(err error) error {
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault(CodeTimeout, "", "the body did not arrive in time")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault(CodeMalformed, "", "the body ends before its Content-Length")
	}
	return fault(CodeMalformed, "", "the body cannot be read: its framing is wrong")
}

// mediaOf returns the media type in a header, "" if its parameters are not accepted.
func mediaOf(contentType string) string {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	for name, value := range params {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return ""
		}
	}
	return media
}

// accepted returns the media types that a client accepts, in the given order.
func accepted(r *http.Request) iter.Seq[string] {
	return func(yield func(string) bool) {
		for part := range strings.SplitSeq(strings.Join(r.Header["Accept"], ","), ",") {
			if media, params, err := mime.ParseMediaType(part); err == nil && params["q"] != "0" && !yield(media) {
				return
			}
		}
	}
}
