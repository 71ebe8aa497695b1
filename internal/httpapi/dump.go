// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"io"
	"net/http"
)

const (
	mediaZstd = "application/zstd"
	// TotalsHeader is the header of a dump that has its last line.
	TotalsHeader = "Locus-Totals"
)

// dump reads the installation and then streams the file.
func (s *Server) dump(c *call) error {
	h := c.w.Header()
	if c.r.Method == http.MethodHead {
		h.Set("Content-Type", mediaZstd)
		return nil
	}
	d, err := s.svc.Dump(c)
	if err != nil {
		return err
	}
	defer d.Close()
	totals, err := json.Marshal(d.End)
	if err != nil {
		return err
	}
	h.Set("Content-Type", mediaZstd)
	h.Set(WatermarkHeader, d.Watermark.String())
	h.Set(TotalsHeader, string(totals))
	return s.send(c, func(w io.Writer) error {
		_, err := d.WriteTo(w)
		return err
	})
}
