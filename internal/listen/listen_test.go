// SPDX-License-Identifier: Apache-2.0

package listen

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestP10_StartTable tries every row of the table in doc.go.
func TestP10_StartTable(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1", "localhost", "::1", "127.9.9.9", "::ffff:127.0.0.1", "", "0.0.0.0", "::", "192.0.2.1", "localhost.example", "locus.example"} {
		local := host == "localhost" || host == "::1" || strings.Contains(host, "127.")
		for _, encrypted := range []Mode{Clear, Files, SelfSigned, External} {
			for _, insecure := range []bool{false, true} {
				for _, tokens := range []bool{false, true} {
					w := Wish{Host: host, TLS: encrypted, Insecure: insecure}
					var want error
					switch {
					case insecure && tokens:
						want = ErrTokens
					case insecure:
					case encrypted == External && !tokens:
						want = ErrProxy
					case local:
					case !tokens:
						want = ErrOpen
					case encrypted == Clear:
						want = ErrClear
					}
					if got := w.Serve(tokens); !errors.Is(got, want) {
						t.Errorf("%+v with tokens %v: %v, want %v", w, tokens, got, want)
					}
					if got := w.Address(); (got == nil) != (local || encrypted != Clear || insecure) {
						t.Errorf("%+v: %v", w, got)
					}
				}
			}
		}
	}
}

// issue writes a new pair for a name.
func issue(t *testing.T, cert, key, name string, until time.Time) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: until.Add(-365 * 24 * time.Hour), NotAfter: until,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []struct {
		path, kind string
		der        []byte
	}{{cert, "CERTIFICATE", der}, {key, "PRIVATE KEY", pkcs8}} {
		if file.path == "" {
			continue
		}
		if err := os.WriteFile(file.path, pem.EncodeToMemory(&pem.Block{Type: file.kind, Bytes: file.der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// shown returns the name in the certificate that a client gets, and the error of the handshake.
func shown(c *Certificate, config *tls.Config) (string, error) {
	near, far := net.Pipe()
	defer near.Close()
	go func() { _ = tls.Server(far, c.Config()).Handshake(); far.Close() }()
	client := tls.Client(near, config)
	if err := client.Handshake(); err != nil {
		return "", err
	}
	return client.ConnectionState().PeerCertificates[0].DNSNames[0], nil
}

func TestCertificate_IsReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	now := time.Now()
	issue(t, cert, key, "first.example", now.Add(100*24*time.Hour))
	var log strings.Builder
	c, err := Open(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	c.now, c.looked = func() time.Time { return now }, now
	anyone := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the test reads the name
	want := func(name string) {
		t.Helper()
		if got, err := shown(c, anyone); got != name || err != nil {
			t.Errorf("%q, %v: want %s", got, err, name)
		}
	}
	want("first.example")
	issue(t, cert, key, "second-one.example", now.Add(100*24*time.Hour))
	want("first.example") // the files are looked at every 10 s
	now = now.Add(lookEvery)
	want("second-one.example")

	// Only one of the two files is replaced.
	issue(t, cert, "", "third.example", now.Add(100*24*time.Hour))
	now = now.Add(lookEvery)
	want("second-one.example")
	if !strings.Contains(log.String(), "keeping the previous one") || strings.Contains(log.String(), "expires soon") {
		t.Error(log.String())
	}
	issue(t, cert, key, "fourth-name.example", now.Add(13*24*time.Hour))
	if err := c.Reload(); err != nil {
		t.Error(err)
	}
	want("fourth-name.example")
	if !strings.Contains(log.String(), "expires soon") || !c.Until().Before(now.Add(14*24*time.Hour)) {
		t.Errorf("%v: %s", c.Until(), log.String())
	}
	// A process that runs on says so every day.
	for _, ends := range []int{1, 1, 2} {
		want("fourth-name.example")
		if n := strings.Count(log.String(), "expires soon"); n != ends {
			t.Errorf("%d warnings, want %d: %s", n, ends, log.String())
		}
		now = now.Add(13 * time.Hour)
	}
	if _, err := shown(c, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil { //nolint:gosec // refused
		t.Error("TLS 1.1 is taken")
	}
}

func TestOpen_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, other := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "other.pem")
	issue(t, cert, key, "x.example", time.Now().Add(time.Hour))
	issue(t, "", other, "x.example", time.Now().Add(time.Hour))
	for _, test := range [][3]string{{cert, other, "does not match"}, {key, key, "failed to find"}, {filepath.Join(dir, "none"), key, "no such file"}} {
		if _, err := Open(test[0], test[1], slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), test[2]) {
			t.Errorf("%v: %v", test, err)
		}
	}
}
