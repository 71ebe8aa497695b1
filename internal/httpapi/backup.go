// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"io"
	"net/http"
)

// backup streams the files of the data directory.
func (s *Server) backup(c *call) error {
	c.w.Header().Set("Content-Type", mediaZstd)
	if c.r.Method == http.MethodHead {
		return nil
	}
	return s.send(c, func(w io.Writer) error {
		_, err := s.svc.Backup(c, w)
		return err
	})
}
