// SPDX-License-Identifier: Apache-2.0

package login_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/locus-db/locus/internal/login"
)

// A browser that comes back without the cookie of Begin has begun no login.
func Example() {
	p := login.New(login.Config{Issuer: "https://id.example", ClientID: "locus", PublicURL: "https://locus.example"})
	_, _, err := p.Finish(context.Background(), make([]byte, login.SecretBytes), "", url.Values{"code": {"stolen"}})
	fmt.Println(errors.Is(err, login.ErrAttempt))
	// Output: true
}
