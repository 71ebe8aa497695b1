// SPDX-License-Identifier: Apache-2.0

package access

import "errors"

// SessionPrefix begins the secret of every session. Its form is that of a token, so that a leaked one is found too.
const SessionPrefix = "locus_ses_"

// ErrSession means that a text is not the secret of a session.
var ErrSession = errors.New("it is not the secret of a session")

// NewSession returns the random secret of a session, and its id.
func NewSession() (secret, id string) { return newToken(SessionPrefix) }

// ParseSession returns the id and the hash of a session's secret. The error is ErrSession.
func ParseSession(secret string) (id string, h Hash, err error) {
	id, h, ok := parse(secret, SessionPrefix)
	if !ok {
		return "", h, ErrSession
	}
	return id, h, nil
}
