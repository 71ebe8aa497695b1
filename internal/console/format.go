// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// count formats a whole number exactly, with digits grouped by threes.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// counted formats a number with its noun: "1 record", "2 records".
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// rate formats a number per second: whole from 100 on, otherwise with one decimal.
func rate(perSecond float64) string {
	if perSecond <= 0 || math.IsNaN(perSecond) {
		return "0"
	}
	if perSecond >= 99.95 {
		return count(int64(math.Round(min(perSecond, 1e15))))
	}
	return strings.TrimSuffix(strconv.FormatFloat(perSecond, 'f', 1, 64), ".0")
}

// percent formats part of whole with two significant digits, and never rounds a positive value to zero.
func percent(part, whole float64) string {
	if whole <= 0 || part <= 0 {
		return "0 %"
	}
	p := 100 * part / whole
	switch {
	case p >= 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	case p >= 0.01:
		return strconv.FormatFloat(p, 'f', 2, 64) + " %"
	default:
		digits := 1 - int(math.Floor(math.Log10(p)))
		return strconv.FormatFloat(p, 'f', digits, 64) + " %"
	}
}

// size formats bytes with three significant digits, in powers of 1000.
func size(bytes int64) string {
	if bytes < 1000 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	v, unit := float64(bytes), 0
	for v >= 999.5 && unit < len("kMGTPE") {
		v /= 1000
		unit++
	}
	digits := 0
	if v < 99.95 {
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " " + "kMGTPE"[unit-1:unit] + "B"
}

// odds describes the meaning of bits of evidence: odds of 2 to their power.
func odds(bits float64) string {
	times := math.Exp2(math.Abs(bits))
	how := "likelier"
	if bits < 0 {
		how = "less likely"
	}
	switch {
	case times < 1.05:
		return "as likely as not"
	case times < 10:
		return fmt.Sprintf("%.1f times %s", times, how)
	case times < 1e3:
		return fmt.Sprintf("%.0f times %s", times, how)
	case times < 1e6:
		return fmt.Sprintf("%.0f thousand times %s", times/1e3, how)
	case times < 1e9:
		return fmt.Sprintf("%.0f million times %s", times/1e6, how)
	default:
		return fmt.Sprintf("over a billion times %s", how)
	}
}

// isolate isolates the text direction of data where markup is impossible, such as in a page title (Unicode UAX 9: FSI
// and PDI).
func isolate(s string) string { return "\u2068" + s + "\u2069" }

// command formats arguments as one shell command line.
func command(args ...string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quote(a)
	}
	return strings.Join(quoted, " ")
}

// quote quotes an argument so that a POSIX shell reads it as exactly s. Text with invisible characters is written with
// escapes that bash and zsh understand, because a copied command must do what it looks like.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.:/@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	hidden := func(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) || unicode.IsSpace(r) && r != ' ' }
	if strings.IndexFunc(s, hidden) < 0 {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for _, r := range s {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case hidden(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
