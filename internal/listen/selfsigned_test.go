// SPDX-License-Identifier: Apache-2.0

package listen

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOpenOwn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tls")
	open := func(names ...string) (*Certificate, string, string) {
		t.Helper()
		c, fingerprint, ca, err := OpenOwn(dir, names, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return c, fingerprint, ca
	}
	c, fingerprint, ca := open("locus.example", "0:0:0:0:0:0:0:1", "127.0.0.1", "Locus.Example")
	if len(fingerprint) != len("sha256:")+64 || !strings.HasPrefix(fingerprint, "sha256:") {
		t.Error(fingerprint)
	}
	text, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	// serial connects, verifies the certificate for a name, and returns its number.
	serial := func(c *Certificate, name string, now time.Time) (string, error) {
		near, far := net.Pipe()
		defer near.Close()
		go func() { _ = tls.Server(far, c.Config()).Handshake(); far.Close() }()
		client := tls.Client(near, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // verified below: on a pipe both sides would wait
		if err := client.Handshake(); err != nil {
			return "", err
		}
		leaf := client.ConnectionState().PeerCertificates[0]
		_, err := leaf.Verify(x509.VerifyOptions{Roots: trusted, DNSName: name, CurrentTime: now})
		return leaf.SerialNumber.String(), err
	}
	now := time.Now()
	first, err := serial(c, "locus.example", now)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"127.0.0.1": true, "::1": true, "evil.example": false, "192.0.2.1": false} {
		if _, err := serial(c, name, now); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	same, again, _ := open("127.0.0.1", "::1", "locus.example")
	if got, err := serial(same, "locus.example", now); got != first || again != fingerprint || err != nil {
		t.Errorf("a restart made another certificate: %v", err)
	}
	// The certificate is renewed 30 days before its end, while the server runs.
	c.now = func() time.Time { return now }
	now = time.Now().Add(59 * 24 * time.Hour)
	c.looked = time.Time{}
	if got, err := serial(c, "locus.example", now); got != first || err != nil {
		t.Errorf("after 59 days it is another one: %v", err)
	}
	now = time.Now().Add(61 * 24 * time.Hour)
	second, err := serial(c, "locus.example", now)
	if second == first || err != nil || c.Until().Before(now.Add(89*24*time.Hour)) {
		t.Errorf("after 61 days it is the same, until %v: %v", c.Until(), err)
	}
	if more, again, _ := open("locus.example", "new.example"); again != fingerprint {
		t.Error("other names have another authority")
	} else if _, err := serial(more, "new.example", time.Now()); err != nil {
		t.Error(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 {
		t.Errorf("%v, %v", files, err)
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ca.key"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := OpenOwn(dir, nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "ca.pem") {
		t.Errorf("with a damaged key: %v", err)
	}
}
