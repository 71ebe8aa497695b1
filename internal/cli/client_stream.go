// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/locus-db/locus/internal/httpapi"
)

// errEnough is returned by the reader of a stream to end it; the work on the server ends too.
var errEnough = errors.New("enough of the stream")

// maxStreamLine limits a line of a stream. A change can carry the values of large entities, twice.
const maxStreamLine = 16 << 20

// patient returns the client without a timeout.
func (c *client) patient() *http.Client {
	patient := *c.http
	patient.Timeout = 0
	return &patient
}

// stream starts long work, passes its lines of progress and verification to progress, and returns the result. Every
// failure is a *httpapi.Problem. It may take hours, so only ctx limits it.
func (c *client) stream(ctx context.Context, path string, body any,
	progress func(json.RawMessage) error) (result json.RawMessage, err error) {
	q := question{method: http.MethodPost, path: path}
	if body != nil {
		if q.body, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("ask for %.80q: %w", path, err)
		}
	}
	response, err := c.send(ctx, c.patient(), q)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return readAnswer(response)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxStreamLine)
	for lines.Scan() {
		var of struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(lines.Bytes(), &of); err != nil {
			return nil, foreign(response, err)
		}
		switch of.Type {
		case httpapi.LineProgress, httpapi.LineVerified, httpapi.LineDifference:
			if err := progress(append(json.RawMessage(nil), lines.Bytes()...)); err != nil {
				return nil, err
			}
		case httpapi.LineResult:
			return append(json.RawMessage(nil), lines.Bytes()...), nil
		case httpapi.LineError:
			var problem httpapi.Problem
			if err := json.Unmarshal(lines.Bytes(), &problem); err != nil {
				return nil, foreign(response, err)
			}
			return nil, &problem
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("read the answer: %w: %w", errCut, cmp.Or(lines.Err(), io.ErrUnexpectedEOF))
}
