// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
)

func TestDoctor_Line(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ends  time.Duration // of the certificate, 0 for none
		date  string
		level level
		says  string // the text of the only finding, "" for none
	}{
		{0, "", "", ""},
		{0, now.Format(http.TimeFormat), "", ""},
		{0, now.Add(-4 * time.Second).Format(http.TimeFormat), "", ""},
		{0, now.Add(-8 * time.Second).Format(http.TimeFormat), levelWarning, "differ by 8s"},
		{0, now.Add(time.Minute).Format(http.TimeFormat), levelWarning, "differ by 59s"},
		{90 * 24 * time.Hour, now.Format(http.TimeFormat), levelOK, "it ends at"},
		{13 * 24 * time.Hour, now.Format(http.TimeFormat), levelWarning, "it ends at"},
	} {
		var state *tls.ConnectionState
		if c.ends != 0 {
			state = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{NotAfter: now.Add(c.ends)}}}
		}
		x := &examination{}
		x.line(state, c.date, now, now.Add(time.Second))
		switch {
		case c.says == "" && len(x.all) > 0, c.says != "" && (len(x.all) != 1 || x.all[0].Level != c.level || !strings.Contains(x.all[0].Says, c.says)):
			t.Errorf("%+v: %+v", c, x.all)
		case x.served != (c.date != ""):
			t.Errorf("%+v: served %v", c, x.served)
		}
	}
}

// TestDoctor_Server changes one thing at a time of a server that is as it should be.
func TestDoctor_Server(t *testing.T) {
	t.Parallel()
	streaming := cell.Standby{Name: "b", State: "streaming", Sync: "sync", Bytes: 100}
	for _, c := range []struct {
		change func(*cell.Server)
		level  level
		says   string
	}{
		{func(*cell.Server) {}, levelOK, "b of locus@db1:5432 streams (sync), 100 bytes behind"},
		{func(*cell.Server) {}, levelOK, "PostgreSQL 15.13, 26 of 100 connections are open"},
		{func(s *cell.Server) { *s = cell.Server{Name: "x", Trouble: "refused"} }, levelError, "x cannot be reached: refused"},
		{func(s *cell.Server) { s.Used = 27 }, levelWarning, "takes 100: others have 27 open, this process may open 64"},
		{func(s *cell.Server) { s.Used, s.Own = 90, 64 }, levelOK, "90 of 100"},
		{func(s *cell.Server) { s.Pooled, s.PoolerNamed, s.Used = true, true, 99 }, levelOK, "99 of 100"},
		{func(s *cell.Server) { s.Profile, s.Standbys = "neon", nil }, levelWarning, "the profile neon, which is experimental"},
		{func(s *cell.Server) { s.Pooled = true }, levelWarning, "is behind a pooler"},
		{func(s *cell.Server) { s.PoolerNamed = true }, levelWarning, "there is no pooler in front of"},
		{func(s *cell.Server) { s.ClockMS = -6000 }, levelWarning, "differ by 6s"},
		{func(s *cell.Server) { s.ClockMS = 6000 }, levelWarning, "differ by 6s"},
		{func(s *cell.Server) { s.ClockMS = 4000 }, levelOK, ""},
		{func(s *cell.Server) { s.ArchiveFails = true }, levelError, "fails to archive its log"},
		{func(s *cell.Server) { s.Standbys, s.Archives = nil, true }, levelOK, "has no standby, but archives its log"},
		{func(s *cell.Server) { s.Standbys = nil }, levelWarning, "neither a standby nor an archive"},
		{func(s *cell.Server) { s.Standbys, s.Recovering = nil, true }, levelOK, ""},
		{func(s *cell.Server) { s.Standbys, s.Hidden = []cell.Standby{{}}, true }, levelOK, "1 standby; only a member of pg_monitor"},
		{func(s *cell.Server) { s.Standbys[0].State = "catchup" }, levelWarning, "does not stream: it is in state catchup"},
		{func(s *cell.Server) { s.Standbys[0].LagMS = 61_000 }, levelWarning, "1m1s and 100 bytes behind"},
		{func(s *cell.Server) { s.Standbys[0].Bytes = 1<<30 + 1 }, levelWarning, "0s and 1,073,741,825 bytes behind"},
	} {
		s := cell.Server{Name: "locus@db1:5432", Version: "15.13", Budget: 64, Own: 0, Connections: 100, Used: 26,
			Standbys: []cell.Standby{streaming}}
		c.change(&s)
		x := &examination{}
		x.server(&s)
		worst, said := levelOK, ""
		for _, f := range x.all {
			if f.Level == levelError || f.Level == levelWarning {
				worst = f.Level
			}
			said += f.Says + "\n"
		}
		if worst != c.level || !strings.Contains(said, c.says) {
			t.Errorf("want %s and %q: %+v", c.level, c.says, x.all)
		}
	}
}
