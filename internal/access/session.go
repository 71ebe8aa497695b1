// SPDX-License-Identifier: Apache-2.0

package access

import (
	"crypto/sha256"
	"errors"
	"regexp"
	"strings"
)

// SessionPrefix begins the secret of every session. Its form is that of a token, so that a leaked one is found too.
const SessionPrefix = "locus_ses_"

var (
	exactSession = regexp.MustCompile(`^locus_ses_[0-9a-z]{8}_[0-9A-Za-z]{49}$`)
	foundSession = regexp.MustCompile(`locus_ses_[0-9a-z]{8}_[0-9A-Za-z]{0,49}`)
)

// ErrSession means that a text is not the secret of a session.
var ErrSession = errors.New("it is not the secret of a session")

// NewSession returns the random secret of a session, and its id.
func NewSession() (secret, id string) {
	token, id := NewToken()
	body := SessionPrefix + token[len(Prefix):tokenBytes-sumDigits]
	return body + sum(body), id
}

// ParseSession returns the id and the hash of a session's secret. The error is ErrSession.
func ParseSession(secret string) (id string, h Hash, err error) {
	if len(secret) != tokenBytes || !exactSession.MatchString(secret) || sum(secret[:tokenBytes-sumDigits]) != secret[tokenBytes-sumDigits:] {
		return "", h, ErrSession
	}
	return secret[len(SessionPrefix) : len(SessionPrefix)+idDigits], sha256.Sum256([]byte(secret)), nil
}

func redactSessions(text string) string {
	if !strings.Contains(text, SessionPrefix) {
		return text
	}
	return foundSession.ReplaceAllStringFunc(text, func(t string) string { return t[:len(SessionPrefix)+idDigits] + "_..." })
}
