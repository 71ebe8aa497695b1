// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"time"
)

// Principal is the identity that a request acts as.
type Principal struct {
	// Name of the token or of the person, or "" for the operator of an installation without tokens.
	Name string
	// Author is the name that people read, where it differs from Name.
	Author string
	// ID of the token or of the session, "" without one.
	ID string
	// Session means that ID is the id of a session in a browser.
	Session bool
	// Until is the end of a credential that is stored nowhere, zero for the others.
	Until time.Time
	// Permissions of the principal.
	Permissions Set
	// Sources are the sources whose records the principal may write.
	Sources Sources
	// Restriction narrows what the principal sees.
	Restriction Restriction
	// Shares are set if the principal has other permissions for some kinds or sources than for others. Permissions,
	// Sources and Restriction then combine all of them; see For.
	Shares []Share
	// Rates are the limits of the principal.
	Rates Rates

	whole *Principal // the principal that For was called with
}

// Local returns the principal of a process that opens the databases itself: it may do everything.
func Local() *Principal { return &Principal{Permissions: Everything()} }

// May reports whether the principal has all of some permissions; a nil one has none.
func (p *Principal) May(permissions ...Permission) bool {
	return p != nil && p.Permissions.Has(Of(permissions...))
}

// Signs returns the name that people see as the author of the principal's decisions.
func (p *Principal) Signs() string {
	if p.Author != "" {
		return p.Author
	}
	return p.Name
}

// Named reports whether the principal was proved by a credential.
func (p *Principal) Named() bool { return p != nil && p.ID != "" }

type key struct{}

// With returns a context of a request by a principal.
func With(ctx context.Context, p *Principal) context.Context { return context.WithValue(ctx, key{}, p) }

// From returns the principal of a request, nil if there is none.
func From(ctx context.Context) *Principal {
	p, _ := ctx.Value(key{}).(*Principal)
	return p
}
