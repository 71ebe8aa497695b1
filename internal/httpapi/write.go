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

// maxBody is the size of a body in bytes.
const maxBody = 1 << 20

// writeJSON sends a whole answer. A value that cannot be written is a bug, which the guard answers.
func writeJSON(w http.ResponseWriter, status int, contentType string, value any) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	writeWhole(w, status, contentType, body.Bytes())
}

// writeWhole sends an answer that is complete.
func writeWhole(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // who left does not want it
}

// The types of bodies.
const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
)

// readBody reads the body of a call, of one of the types, or says why not before a byte of it is asked for. The
// memory that it takes is given back by free.
func (s *Server) readBody(c *call, types ...string) (free func(), err error) {
	if err := checkBody(c.r, types); err != nil {
		c.w.Header().Set("Connection", "close") // or the answer would wait for the rest of the body
		return nil, err
	}
	defer s.connections.receive(connectionOf(c.r.Context()))()
	body, free, err := s.bodies.read(c.w, c.r, c.r.ContentLength)
	if err != nil {
		c.w.Header().Set("Connection", "close")
		free()
		return nil, err
	}
	c.body = body
	return free, nil
}

// checkBody looks at what the headers say of a body.
func checkBody(r *http.Request, types []string) error {
	if len(r.Header["Content-Encoding"]) > 0 {
		return fault(CodeMediaType, "", "a Content-Encoding is not taken: send the document as it is")
	}
	if is := r.Header["Content-Type"]; len(is) != 1 || !slices.Contains(types, mediaOf(is[0])) {
		return fault(CodeMediaType, "", "want the header Content-Type: %s, without a charset or with utf-8", strings.Join(types, " or "))
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
		return fault(CodeTimeout, "", "the body did not come in time")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault(CodeMalformed, "", "the body ends before its Content-Length")
	}
	return fault(CodeMalformed, "", "the body cannot be read: its framing is wrong")
}

// mediaOf is the type that a header names, "" if what it says besides is not taken.
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

// accepted are the types that a client takes, in the order in which it names them.
func accepted(r *http.Request) iter.Seq[string] {
	return func(yield func(string) bool) {
		for part := range strings.SplitSeq(strings.Join(r.Header["Accept"], ","), ",") {
			if media, params, err := mime.ParseMediaType(part); err == nil && params["q"] != "0" && !yield(media) {
				return
			}
		}
	}
}
