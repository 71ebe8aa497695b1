// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
)

// keyedError is an error of a call that names external keys. The client sees the keys. The log has more readers and a
// longer life, so it contains a hash instead, under a secret of the process: equal keys have equal hashes, and a hash
// cannot be found by trying keys.
type keyedError struct {
	error
	call *call
}

func (e *keyedError) Unwrap() error { return e.error }

// LogValue returns the text of the error with hashes in place of the keys of the call.
func (e *keyedError) LogValue() slog.Value {
	refs := e.call.refs()
	slices.SortFunc(refs, func(a, b entity.Ref) int { return cmp.Compare(len(b.Key), len(a.Key)) }) // a:12 before a:1
	pairs := make([]string, 0, 2*len(refs))
	for _, ref := range refs {
		pairs = append(pairs, ref.String(), hashed(ref))
	}
	return slog.StringValue(strings.NewReplacer(pairs...).Replace(e.Error()))
}

// logSecret is the secret of this process for the keys in its log.
var logSecret = sync.OnceValue(func() []byte {
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails
	return secret
})

// hashed returns the text for a key in the log.
func hashed(ref entity.Ref) string {
	sum := hmac.New(sha256.New, logSecret())
	fmt.Fprintf(sum, "%d:%s%s", len(ref.Source), ref.Source, ref.Key)
	return fmt.Sprintf("%s:#%x", ref.Source, sum.Sum(nil)[:8])
}

// keyed wraps an error for the log.
func (c *call) keyed(err error) error {
	if err == nil {
		return nil
	}
	return &keyedError{err, c}
}

// refs returns the external keys in the path, the query and the body.
func (c *call) refs() (refs []entity.Ref) {
	named := []string{c.r.PathValue("source") + ":" + c.r.PathValue("key")}
	for _, value := range c.query {
		named = append(named, strings.TrimSpace(value))
	}
	if items, err := decodePut(c.body); err == nil {
		for i := range items {
			named = append(named, items[i].put.String())
		}
	}
	for _, address := range named {
		if ref, err := records.ParseRef(address); err == nil {
			refs = append(refs, ref)
		}
	}
	return refs
}
