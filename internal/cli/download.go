// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// download writes the response of a route, which may be long, to a file, or to standard output if out is "-". The file
// appears under its name once it is complete. Only its owner may read it, because it may be a copy of the whole
// installation. check looks at the header before anything is written; it may be nil. what names the content in errors.
func (a *app) download(ctx context.Context, cl *client, path, out, what string,
	check func(*http.Response) error) (bytes int64, err error) {
	to, file, err := a.create(out)
	if err != nil {
		return 0, err
	}
	defer file.Discard()
	if file != nil {
		file.Private = true
	}
	response, err := cl.send(ctx, cl.patient(), question{method: http.MethodGet, path: path})
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		_, err := readAnswer(response)
		return 0, err
	}
	if check != nil {
		if err := check(response); err != nil {
			return 0, err
		}
	}
	if bytes, err = io.Copy(to, response.Body); err != nil {
		return 0, fmt.Errorf("read the %s: %w: %w", what, errCut, err)
	}
	return bytes, file.Commit()
}
