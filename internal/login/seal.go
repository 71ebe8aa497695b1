// SPDX-License-Identifier: Apache-2.0

package login

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

// SecretBytes is the length of the secret that seals cookies.
const SecretBytes = 32

// attempt is a login that has begun: the content of the cookie.
type attempt struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	To       string    `json:"to"` // path that the login leads to
	Until    time.Time `json:"until"`
}

// purpose is authenticated with each cookie, so that nothing else that is sealed with the secret is accepted as a
// cookie.
const purpose = "locus login 1"

func sealer(secret []byte) (cipher.AEAD, error) {
	if len(secret) != SecretBytes {
		return nil, fmt.Errorf("the secret has %d bytes, want %d", len(secret), SecretBytes)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (a attempt) seal(secret []byte) (string, error) {
	aead, err := sealer(secret)
	if err != nil {
		return "", err
	}
	plain, err := json.Marshal(a)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, plain, []byte(purpose))), nil
}

// open returns the attempt of a cookie. The error is ErrAttempt.
func open(secret []byte, cookie string, now time.Time) (a attempt, err error) {
	aead, err := sealer(secret)
	if err != nil {
		return a, err
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return a, ErrAttempt
	}
	plain, err := aead.Open(nil, nil, sealed, []byte(purpose))
	if err != nil || json.Unmarshal(plain, &a) != nil || !now.Before(a.Until) {
		return attempt{}, ErrAttempt
	}
	return a, nil
}
