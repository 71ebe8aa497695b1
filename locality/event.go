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

// LogValue makes a group of kind, why, node and, if the clock jumped, jump_ms of an
// event that is an attribute of a line of log/slog.
func (e Event) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("kind", e.Kind.String()), slog.String("why", e.Why), slog.String("node", e.Node.String())}
	if e.Jump != 0 {
		attrs = append(attrs, slog.Int64("jump_ms", e.Jump.Milliseconds()))
	}
	return slog.GroupValue(attrs...)
}

// logEvent is what OnEvent defaults to.
func logEvent(e Event) { slog.Default().Warn("id generator", "event", e) }
