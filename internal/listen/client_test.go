// SPDX-License-Identifier: Apache-2.0

package listen_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/internal/listen/listentest"
)

// TestP10_ClientOfACertificate has the names that a certificate may have, and names that prove nothing.
func TestP10_ClientOfACertificate(t *testing.T) {
	t.Parallel()
	authority, now := listentest.New(t), time.Now()
	for _, test := range []struct {
		of   listentest.Client
		at   time.Time
		want string
	}{
		{listentest.Client{DNS: "crm.example", CommonName: "admin"}, now, "crm.example"},
		{listentest.Client{DNS: "crm.example", URI: "spiffe://example/crm"}, now, "spiffe://example/crm"},
		{listentest.Client{CommonName: "admin"}, now, ""},
		{listentest.Client{DNS: "crm.example"}, now.Add(59 * time.Minute), "crm.example"},
		{listentest.Client{DNS: "crm.example"}, now.Add(61 * time.Minute), ""}, // the connection is still open
	} {
		leaf := authority.Issue(test.of).Leaf
		state := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf},
			VerifiedChains: [][]*x509.Certificate{{leaf}}}
		name, until := listen.Client(state, test.at)
		if name != test.want || name != "" && !until.Equal(leaf.NotAfter) {
			t.Errorf("%+v: %q until %v, want %q", test.of, name, until, test.want)
		}
		state.VerifiedChains = nil
		if name, _ := listen.Client(state, test.at); name != "" {
			t.Errorf("%+v, not verified: %q", test.of, name)
		}
	}
	if name, _ := listen.Client(nil, now); name != "" {
		t.Errorf("without TLS: %q", name)
	}
}

func TestParseFingerprint(t *testing.T) {
	t.Parallel()
	const want = "sha256:00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff"
	for _, text := range []string{want, "SHA256:00FF00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff", "sha256:00:ff:" + want[11:]} {
		if got, err := listen.ParseFingerprint(text); got != want || err != nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "sha256:", want[7:], want + "00", want[:len(want)-1], "sha256:zz", "md5:00"} {
		if _, err := listen.ParseFingerprint(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
