// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/sinks"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/tokens"
)

// spoken is an error whose text is sent to the client although its code has a text of its own.
type spoken struct{ error }

func (e spoken) Unwrap() error { return e.error }

// outspoken sends the text of errors to clients that change the cells, because they are operators. Errors about an
// invalid cell map or cell URL become client errors.
func outspoken(err error) error {
	if errors.As(err, new(*Fault)) || errors.As(err, new(*locus.InvalidError)) {
		return err
	}
	if errors.Is(err, cell.ErrMap) || errors.Is(err, cell.ErrURL) && !errors.Is(err, cell.ErrUnavailable) {
		return fault(CodeInvalid, "", "%s", plain(err))
	}
	return spoken{err}
}

// plain returns the text of an error about the request, without the prefixes of sentinels.
func plain(err error) string {
	return printable(strings.NewReplacer(cell.ErrMap.Error()+": ", "", cell.ErrURL.Error()+": ", "",
		cell.ErrFormat.Error()+": ", "", cell.ErrPreflight.Error()+": ", "").Replace(err.Error()))
}

// ofDamage names the damaged row; retrying does not help.
func ofDamage(err error) string {
	where := err.Error()
	if damaged, ok := errors.AsType[*cell.DamagedError](err); ok {
		where = damaged.Where()
	}
	return printable(where) + "; everything else is served: locus check reports the damage and what can be repaired"
}

// ofRollup reports whether the text of an error about a rollup is meant for the client.
func ofRollup(err error) bool {
	for _, e := range []error{rollup.ErrNotFound, rollup.ErrBuilding, rollup.ErrBehind, rollup.ErrGone, rollup.ErrLimit, rollup.ErrNoDocuments} {
		if errors.Is(err, e) {
			return !errors.Is(err, cell.ErrUnavailable)
		}
	}
	return false
}

// invalidFault lists all problems of an input. pointer is prepended to theirs.
func invalidFault(invalid *locus.InvalidError, pointer string) *Fault {
	all := make([]locus.Problem, len(invalid.Problems))
	for i, p := range invalid.Problems {
		all[i] = locus.Problem{Code: printable(p.Code), Detail: printable(p.Detail), Pointer: printable(pointer + p.Pointer),
			Line: p.Line}
	}
	// Problems have more codes than answers, and some equal names differ in meaning: "too_deep" in a problem is about a
	// path of categories, and in an answer about a document.
	code := CodeInvalid
	switch c := Code(all[0].Code); c {
	case CodeInvalidUTF8, CodeInFuture, CodeTooLarge:
		code = c
	}
	f := &Fault{Code: code, Detail: all[0].Detail, Pointer: all[0].Pointer, Outcome: codes[code].outcome}
	if invalid.Definition != "" {
		f.Detail = printable(invalid.Problems[0].String())
		if more := len(all) - 1; more > 0 {
			f.Detail += fmt.Sprintf("; and %d more", more)
		}
	}
	if len(all) > 1 || all[0].Code != string(code) || invalid.Definition != "" {
		f.Errors = all
	}
	return f
}

// ofRules reports whether an error is about kinds, term-frequency tables sinks or streams and has a text for the
// client.
func ofRules(err error) bool {
	for _, e := range []error{changes.ErrBehind, kinds.ErrNoKind, kinds.ErrNoTerms, kinds.ErrOtherKind, kinds.ErrTooMany, resolve.ErrRules, resolve.ErrMigrating, resolve.ErrOutdated, resolve.ErrNewer, resolve.ErrUpgrading, sinks.ErrNotFound, sinks.ErrOther, sinks.ErrOwn, sources.ErrNotFound, sources.ErrOther, sources.ErrUnable, tokens.ErrNotFound, tokens.ErrNoSession, tokens.ErrNotBlocked, tokens.ErrTaken, tokens.ErrLast, tokens.ErrLacks} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// ofCounter returns the text of a counter error for the client, "" if the text of its code fits.
func ofCounter(err error) string {
	for _, e := range []error{counter.ErrNotFound, counter.ErrInFuture, counter.ErrKind, counter.ErrQuota, counter.ErrSequence} {
		if errors.Is(err, e) && !errors.Is(err, counter.ErrCommitUnknown) {
			return strings.TrimPrefix(e.Error(), "counter: ")
		}
	}
	return ""
}

// printable escapes everything that a terminal or a reader could misinterpret, and truncates.
func printable(s string) string {
	const limit = 600
	var b strings.Builder
	for _, r := range s {
		if b.Len() > limit {
			b.WriteString("…")
			break
		}
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
