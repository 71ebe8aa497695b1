// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"io"
	"net/http"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/strictjson"
)

// BackupMark is the note that a backup was made.
type BackupMark struct {
	Name string `json:"name,omitempty" doc:"What made it, or its name there; left out for one of GET /v1/backup"`
	At   string `json:"at,omitempty" doc:"RFC 3339: the moment that it is of. Left out if none was noted"`
}

// BackupMarkRequest is the body of POST /v1/backup/mark.
type BackupMarkRequest struct {
	Name string    `json:"name,omitempty" doc:"What made the backup, or its name there; at most 100 bytes"`
	At   time.Time `json:"at,omitzero" doc:"RFC 3339: the moment that the backup is of; defaults to now"`
}

// markBackup notes a backup that something else has made.
func (s *Server) markBackup(c *call) (any, error) {
	body, err := object(c.body, "name", "at")
	if err != nil {
		return nil, err
	}
	m := locus.BackupMark{At: time.Now()}
	for field, v := range body {
		if v.Kind() != strictjson.String {
			return nil, wrongKind("/"+field, v, "a text")
		}
	}
	if v, given := body["name"]; given {
		m.Name = v.Text()
	}
	if v, given := body["at"]; given {
		if m.At, err = time.Parse(time.RFC3339, v.Text()); err != nil || m.At.After(time.Now().Add(time.Minute)) {
			return nil, fault(CodeInvalid, "/at", "want a time like 2026-11-28T03:00:00Z that is not in the future")
		}
	}
	if err := s.svc.MarkBackup(c, m); err != nil {
		return nil, err
	}
	return s.lastBackup(c)
}

// lastBackup returns the newest note.
func (s *Server) lastBackup(c *call) (any, error) {
	m, err := s.svc.LastBackup(c)
	if err != nil || m == nil {
		return BackupMark{}, err
	}
	return BackupMark{m.Name, m.At.Format(time.RFC3339Nano)}, nil
}

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
