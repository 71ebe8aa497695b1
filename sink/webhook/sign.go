// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
)

// secretPrefix begins the text of a secret.
const secretPrefix = "whsec_"

// Sizes of a secret in bytes, as Standard Webhooks recommends them.
const (
	minSecret = 24
	maxSecret = 64
)

// ErrSecret means that a text is not a secret.
var ErrSecret = errors.New("webhook: not a secret: want whsec_ and 24 to 64 bytes in base64; make one with `echo whsec_$(openssl rand -base64 32)`")

// Secret is a key that signs requests.
type Secret []byte

// ParseSecrets parses one secret, or two separated by white space, of which the receiver needs only one: the text
// whsec_ and base64. The error is ErrSecret and does not contain the text.
func ParseSecrets(text string) ([]Secret, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > 2 {
		return nil, fmt.Errorf("%w: found %d words", ErrSecret, len(fields))
	}
	secrets := make([]Secret, len(fields))
	for i, f := range fields {
		encoded, named := strings.CutPrefix(f, secretPrefix)
		key, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case !named:
			return nil, fmt.Errorf("%w: it does not begin with %s", ErrSecret, secretPrefix)
		case err != nil:
			return nil, fmt.Errorf("%w: it is not base64", ErrSecret) // its error quotes bytes of the secret
		case len(key) < minSecret || len(key) > maxSecret:
			return nil, fmt.Errorf("%w: it has %d bytes", ErrSecret, len(key))
		}
		secrets[i] = key
	}
	return secrets, nil
}

// String returns "redacted".
func (Secret) String() string { return "redacted" }

// Format implements fmt.Formatter: every verb prints String.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText implements encoding.TextMarshaler: it returns String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue implements slog.LogValuer: it returns String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Sign returns the signature of a request: v1, and the HMAC-SHA256 of id.timestamp.body in base64.
func (s Secret) Sign(id string, timestamp int64, body []byte) string {
	mac := hmac.New(sha256.New, s)
	_, _ = mac.Write([]byte(id + "." + strconv.FormatInt(timestamp, 10) + "."))
	_, _ = mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
