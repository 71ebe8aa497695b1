// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestDoctor_Line(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ends  time.Duration // of the certificate, 0 for none
		date  string
		level level
		says  string // of the only finding, "" for none
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
