// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/strictjson"
)

// BackupMark is the note that a backup was made.
type BackupMark struct {
	Name   string        `json:"name,omitempty" doc:"Name of the backup; left out for one of GET /v1/backup"`
	At     string        `json:"at,omitempty" doc:"RFC 3339: its time. Left out if none was noted"`
	Points []BackupPoint `json:"points,omitempty" doc:"The recovery point of each server, if the servers were marked"`
}

// BackupPoint is the recovery point of a database server.
type BackupPoint struct {
	Server  string `json:"server"`
	Name    string `json:"name,omitempty" doc:"The restore point to recover to; left out if the server creates none"`
	At      string `json:"at" doc:"RFC 3339, by the server's clock: the time to recover to, if it creates none"`
	Refused string `json:"refused,omitempty" doc:"Why the server creates none"`
}

// BackupMarkRequest is the body of POST /v1/backup/mark.
type BackupMarkRequest struct {
	Name string    `json:"name,omitempty" doc:"Name of the backup, at most 100 bytes. On PostgreSQL, and without a time, each server gets a restore point of that name, all of one moment; then at most 63 bytes"`
	At   time.Time `json:"at,omitzero" doc:"RFC 3339: time of the backup; now by default"`
}

// markBackup notes a backup made by other tools, or marks the servers.
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
	if _, given := body["at"]; !given && m.Name != "" {
		made, err := s.svc.MarkServers(c, m.Name)
		switch {
		case err == nil:
			return markOf(made), nil
		case !errors.Is(err, locus.ErrNoServer):
			return nil, err
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
	return markOf(m), nil
}

// recoveryTime is RFC 3339 in the form of PostgreSQL's recovery_target_time, without Z and to the microsecond.
const recoveryTime = "2006-01-02T15:04:05.000000-07:00"

func markOf(m *locus.BackupMark) BackupMark {
	of := BackupMark{Name: m.Name, At: m.At.UTC().Format(time.RFC3339Nano)}
	for _, p := range m.Points {
		of.Points = append(of.Points, BackupPoint{p.Server, p.Name, p.At.UTC().Format(recoveryTime), p.Refused})
	}
	return of
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
