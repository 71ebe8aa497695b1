// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"log/slog"
	"time"
)

// EventKind says what happened to a generator.
type EventKind int

const (
	// IdentityChanged: the generator took a new identity, because it could not be sure
	// any more that nobody else has the old one. Nothing needs to be done.
	IdentityChanged EventKind = iota
	// NodeInDoubt: a hardware node that others are likely to have, or none at all.
	NodeInDoubt
)

// String returns "identity changed" or "node in doubt".
func (k EventKind) String() string {
	if k == NodeInDoubt {
		return "node in doubt"
	}
	return "identity changed"
}

// Event is what an operator may want to know about a generator.
type Event struct {
	Kind EventKind
	// Why is a phrase in English.
	Why string
	// Jump is how far the wall clock had jumped, negative for back, if that was the
	// reason.
	Jump time.Duration
	// Node is the policy of the generator.
	Node Node
}

// logEvent is what OnEvent defaults to.
func logEvent(e Event) {
	attrs := []any{slog.String("why", e.Why), slog.String("node", e.Node.String())}
	if e.Jump != 0 {
		attrs = append(attrs, slog.Duration("jump", e.Jump))
	}
	slog.Default().Warn("locality: "+e.Kind.String(), attrs...)
}
