// SPDX-License-Identifier: Apache-2.0

package access

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"
)

// The form of a token:
//
//	locus_tok_0j0g0xae_hscanlgn4wcPJZDgCiWuubGXGtkpnxBAk8HgDd32zzf31zOTa
//	prefix    id       256 random bits as 43 digits of base 62, then the CRC-32 of everything before it as 6 more
const (
	// Prefix begins every token, so that scanners find leaked ones. BootPrefix begins the first token of an
	// installation.
	Prefix     = "locus_tok_"
	BootPrefix = "locus_boot_"

	idDigits     = 8
	randomDigits = 43
	sumDigits    = 6

	digits   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	idLetter = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// Pattern is the regular expression of a token and of the secret of a session, for secret scanners.
const Pattern = `\blocus_(tok|boot|ses)_[0-9a-z]{8}_[0-9A-Za-z]{49}\b`

var (
	form  = regexp.MustCompile(`^[0-9a-z]{8}_[0-9A-Za-z]{49}$`) // after the prefix
	found = regexp.MustCompile(`locus_(tok|boot|ses)_[0-9a-z]{8}_[0-9A-Za-z]{0,49}`)
)

// ErrToken means that a text is not a token, or has a typing error.
var ErrToken = errors.New("it is not a token: want locus_tok_ and 58 more characters, all of them")

// Hash is the SHA-256 of a token. A token has 256 random bits, so a slow hash would protect nothing.
type Hash [sha256.Size]byte

// NewToken returns a new random token and its id.
func NewToken() (token, id string) { return newToken(Prefix) }

// NewBootstrap returns a new token to begin an installation with.
func NewBootstrap() string {
	token, _ := newToken(BootPrefix)
	return token
}

func newToken(prefix string) (token, id string) {
	var name [idDigits]byte
	for i := range name {
		name[i] = idLetter[number(int64(len(idLetter)))]
	}
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	body := prefix + string(name[:]) + "_" + base62(new(big.Int).SetBytes(random[:]), randomDigits)
	return body + sum(body), string(name[:])
}

func number(below int64) int64 {
	n, err := rand.Int(rand.Reader, big.NewInt(below))
	if err != nil {
		panic(err) // the reader never fails
	}
	return n.Int64()
}

// sum returns the digits of the CRC-32 of a text.
func sum(text string) string {
	return base62(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(text)))), sumDigits)
}

func base62(n *big.Int, width int) string {
	text, rest, base := make([]byte, width), new(big.Int), big.NewInt(int64(len(digits)))
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, rest)
		text[i] = digits[rest.Int64()]
	}
	return string(text)
}

// ParseToken returns the id and the hash of a token. The error is ErrToken, also for a token with a typing error.
func ParseToken(token string) (id string, h Hash, err error) {
	for _, prefix := range []string{Prefix, BootPrefix} {
		if id, h, ok := parse(token, prefix); ok {
			return id, h, nil
		}
	}
	return "", h, ErrToken
}

// parse returns the id and the hash of a secret with a prefix, and reports whether it is one.
func parse(secret, prefix string) (id string, h Hash, ok bool) {
	rest, ok := strings.CutPrefix(secret, prefix)
	if !ok || !form.MatchString(rest) {
		return "", h, false
	}
	if whole := len(secret) - sumDigits; sum(secret[:whole]) != secret[whole:] {
		return "", h, false
	}
	return rest[:idDigits], sha256.Sum256([]byte(secret)), true
}

// Redact replaces every token and secret of a session in a text, also one that is cut off, by its prefix and id.
func Redact(text string) string {
	return found.ReplaceAllStringFunc(text, func(t string) string { return t[:strings.LastIndexByte(t, '_')] + "_..." })
}

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
