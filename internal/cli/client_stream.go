// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/locus-db/locus/internal/httpapi"
)

// errEnough is what the reader of a stream answers with to leave it: the work on the other side ends.
var errEnough = errors.New("enough of the stream")

// maxStreamLine bounds a line of a stream.
const maxStreamLine = 1 << 20

// stream asks for work that takes long, hands out its lines of progress and answers with the result. What
// fails on the way is a *httpapi.Problem, as what is refused at once. It may take hours, so there is no limit
// but ctx.
func (c *client) stream(ctx context.Context, path string, body any, progress func(json.RawMessage) error) (result json.RawMessage, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("ask for %.80q: %w", path, err)
	}
	patient := *c.http
	patient.Timeout = 0
	response, err := c.send(ctx, &patient, http.MethodPost, path, nil, text)
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
		case httpapi.LineProgress:
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
	return nil, fmt.Errorf("read the answer: %w: %w", errCut, errors.Join(lines.Err(), io.ErrUnexpectedEOF))
}
