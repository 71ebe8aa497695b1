// SPDX-License-Identifier: Apache-2.0

// Package secret holds texts that must not be shown: passwords, tokens, keys.
//
//	file, environment ──► New ──► Text ─┬─► Reveal ──► the call that needs it
//	                                    │
//	                                    └─► fmt, JSON, YAML, slog: "redacted"
//
// A Text is also redacted in the fields, exported or not, of a value that is printed.
package secret
