// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"log/slog"
	"time"
)

// EventKind is the kind of an Event.
type EventKind int

const (
	// IdentityChanged: the generator took a new identity, because another process may have the old one. No action is
	// needed.
	IdentityChanged EventKind = iota
	// NodeInDoubt means that the hardware node is likely to be shared, or that there is none.
	NodeInDoubt
)

// String returns "identity changed" or "node in doubt".
func (k EventKind) String() string {
	if k == NodeInDoubt {
		return "node in doubt"
	}
	return "identity changed"
}

// Event reports something about a generator that may interest an operator.
type Event struct {
	Kind EventKind
	// Why is a phrase in English.
	Why string
	// Jump is how far the wall clock had jumped, negative for back, if that was the reason.
	Jump time.Duration
	// Node is the policy of the generator.
	Node Node
}

// LogValue returns a group of kind, why, node and, if the clock jumped, jump_ms, for use as an attribute of log/slog.
func (e Event) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("kind", e.Kind.String()), slog.String("why", e.Why),
		slog.String("node", e.Node.String())}
	if e.Jump != 0 {
		attrs = append(attrs, slog.Int64("jump_ms", e.Jump.Milliseconds()))
	}
	return slog.GroupValue(attrs...)
}

// logEvent is the default of OnEvent.
func logEvent(e Event) { slog.Default().Warn("id generator", "event", e) }
