// SPDX-License-Identifier: Apache-2.0

// Package secret holds texts that must not be shown: passwords, tokens, keys.
//
//	file, environment ──► New ──► Text ─┬─► Reveal ──► the call that needs it
//	                                    │
//	                                    └─► fmt, JSON, YAML, slog: "redacted"
//
// That holds for a Text in a field too, exported or not, of a value that is printed as a whole.
package secret
