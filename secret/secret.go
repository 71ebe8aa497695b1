// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"encoding"
	"fmt"
	"io"
	"log/slog"
)

// Text is a secret. The zero value is the empty one. Texts cannot be compared with ==.
type Text struct {
	// held is a pointer because package fmt prints unexported fields without their methods, and pointers in them as
	// addresses.
	held *string
	_    [0]func() // not comparable: == would compare addresses
}

var (
	_ fmt.Formatter          = Text{}
	_ encoding.TextMarshaler = Text{}
	_ slog.LogValuer         = Text{}
)

// redacted is printed in place of a secret.
const redacted = "redacted"

// New returns a text as a secret.
func New(text string) Text {
	if text == "" {
		return Text{}
	}
	return Text{held: &text}
}

// Reveal returns the text, for the call that needs it.
func (t Text) Reveal() string {
	if t.held == nil {
		return ""
	}
	return *t.held
}

// Empty reports whether there is no text.
func (t Text) Empty() bool { return t.held == nil }

// String returns "redacted", or "" for an empty text.
func (t Text) String() string {
	if t.held == nil {
		return ""
	}
	return redacted
}

// Format implements fmt.Formatter: every verb prints String.
func (t Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// MarshalText implements encoding.TextMarshaler, also for JSON, XML and YAML: it returns String.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// LogValue implements slog.LogValuer: it returns String.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }
