// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/locus-db/locus/match"
)

// form is the format of a value.
type form int

const (
	formEmpty form = iota
	formWords
	formNumber
	formDate
	formEmail
	formURL
	formPhone
)

var (
	// A year, a month and a day, or a day and a month before the year. 0948-22-0703 is a phone number.
	dateForm = regexp.MustCompile(`^(\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](\d{4}|\d{2}))([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$`)
	// With the month as a word: July 20, 1969, or 20. Juli 1969.
	monthForm = regexp.MustCompile(`^(\p{L}{3,10}\.? \d{1,2}(st|nd|rd|th)?,? \d{4}|\d{1,2}(st|nd|rd|th|\.)?[ -](de |of )?\p{L}{3,10}\.?,?[ -](de )?\d{4})$`)
	emailForm = regexp.MustCompile(`^[^\s@,;|]+@[^\s@,;|]+\.[^\s@,;|]+$`)
	urlForm   = regexp.MustCompile(`^(https?://\S+|[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*\.[a-zA-Z]{2,}(/\S*)?)$`)
	// A duration, and a number with a currency before it or a unit behind it.
	durationForm = regexp.MustCompile(`^(\d+:[0-5]\d(:[0-5]\d)?|\d+ ?(h|hr|m|min)\.? ?\d+ ?(m|min|s|sec)\.?)$`)
	amountForm   = regexp.MustCompile(`^(\p{Sc}|[A-Z]{3} ?)?[-+]?\d[\d.,]* ?([%°"″]|\p{Sc}|[\p{L}.]{1,14}( [\p{L}.]{1,14})?)?$`)

	phoneForm = regexp.MustCompile(`^[+(]?[\d][\d ()/.+-]{4,24}((ext|x|#)\.? ?\d+)?$`)
	// A long number that a spreadsheet has shortened: its last digits are lost.
	decimalForm  = regexp.MustCompile(`^\d{3,}\.0$`) // a whole number that a program has read as one with a fraction
	exponentForm = regexp.MustCompile(`^\d([.,]\d+)?[eE]\+\d+$`)

	// A number and a letter or two: 6d, 2.5 kg, XL 3. It names nothing.
	shortCode = regexp.MustCompile(`^[A-Za-z]{0,2} ?\d[\d.,]* ?[A-Za-z]{0,2}$`)

	// A day of any year: 04/17, 17.4., --04-17 of vCards. An empty date: 0/0/00, 0000-00-00.
	anyYearForm   = regexp.MustCompile(`^(--\d{2}-?\d{2}|\d{1,2}[./-]\d{1,2}\.?)$`)
	emptyDateForm = regexp.MustCompile(`^0{1,4}[./-]0{1,2}[./-]0{1,4}$`)

	// A number behind a few letters, or alone: S-10023, 000042, #1001.
	codeForm = regexp.MustCompile(`^#?[A-Za-z]{0,4}[-_/. ]?\d[\d-]*$`)
	// Letters and digits without blanks, such as tt0032138 or a UUID.
	mixedCode = regexp.MustCompile(`^[0-9A-Za-z]+([-_:][0-9A-Za-z]+)*$`)

	yearForm = regexp.MustCompile(`^\d{4}(-\d{2})?$|^\d{8}$`)
)

func formOf(value string) form {
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return formEmpty
	case isNumber(value):
		return formNumber
	case dateForm.MatchString(value), monthForm.MatchString(value):
		return formDate
	case emailForm.MatchString(value):
		return formEmail
	case phoneForm.MatchString(value):
		return formPhone
	case urlForm.MatchString(value):
		return formURL
	}
	return formWords
}

// isNumber reports whether a value is a number, with a point or a comma before the fraction.
func isNumber(value string) bool {
	if len(value) > 32 || strings.ContainsAny(value, "xXpPnN_") {
		return false
	}
	_, err := strconv.ParseFloat(strings.Replace(value, ",", ".", 1), 64)
	return err == nil
}

// unitOf returns the unit of a number, as an attribute of type number reads it: 9.0%, 12 oz, $4.99, 4,99 EUR. The unit
// of a duration such as 3:41 is ":".
func unitOf(value string) (unit string, ok bool) {
	value = strings.TrimSpace(value)
	if durationForm.MatchString(value) {
		return ":", true
	}
	if parts := amountForm.FindStringSubmatch(value); parts != nil {
		unit = strings.ToLower(strings.TrimRight(parts[1]+parts[2], "."))
	}
	return unit, unit != ""
}

// statuses are values of a column called State, Estado or Stato that says how far the row has come, not where it is.
var statuses = nameSet(`0 1 active inactive enabled disabled open opened closed pending new draft published approved rejected cancelled canceled
	completed done archived deleted verified unverified true false activo activa inactivo inactiva pendiente abierto cerrado aprobado
	rechazado cancelado completado publicado borrador nuevo ativo ativa inativo inativa pendente fechado aprovado rejeitado concluido concluído
	novo attivo attiva inattivo inattiva aperto chiuso nuovo actif inactif actief inactief aktiv inaktiv`)

// nearlyAll reports whether four of five values are good, or more. It is false if there are no values.
func nearlyAll(values []string, good func(string) bool) bool {
	n := 0
	for _, value := range values {
		if good(value) {
			n++
		}
	}
	return n > 0 && n*10 >= len(values)*8
}

// fits reports whether nearly all values may be values of an attribute. It is true if there are no values.
func fits(a *match.Attribute, values []string) bool {
	good := 0
	for _, value := range values {
		if fitsOne(a, strings.TrimSpace(value)) {
			good++
		}
	}
	if undated := undatedOf(a, values); undated > 0 { // they neither are nor contradict dates
		return good > 0 && good*10 >= (len(values)-undated)*8
	}
	return good*10 >= len(values)*8
}

// undatedOf returns how many values of a date are days without a year, or empty dates, which are not compared.
func undatedOf(a *match.Attribute, values []string) (n int) {
	if a.Type != match.TypeDate {
		return 0
	}
	for _, value := range values {
		if value = strings.TrimSpace(value); anyYearForm.MatchString(value) || emptyDateForm.MatchString(value) {
			n++
		}
	}
	return n
}

func fitsOne(a *match.Attribute, value string) bool {
	is := formOf(value)
	letters := strings.ContainsFunc(value, unicode.IsLetter)
	digits := 0
	for _, r := range value {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	switch a.Type {
	case match.TypePhone:
		return digits >= 5 && digits <= 20 && is != formDate && is != formEmail && !exponentForm.MatchString(value) && !decimalForm.MatchString(value)
	case match.TypeEmail:
		return strings.Contains(value, "@")
	case match.TypeURL:
		return is == formURL
	case match.TypeGeo:
		_, ok := match.Degrees(value, a.Role)
		return ok
	case match.TypeNumber:
		_, amount := unitOf(value)
		return amount || digits > 0 && digits*2 >= len(value)-3
	case match.TypeDate:
		return is == formDate && !emptyDateForm.MatchString(value) || yearForm.MatchString(value) || digits >= 4 && letters
	case match.TypeName:
		return (letters || is == formWords || is == formNumber) && is != formEmail && is != formDate && (a.Role != match.RoleNone || !shortCode.MatchString(value))
	case match.TypeAddress, match.TypeCategory, match.TypePeople:
		return is != formEmail && is != formDate
	case match.TypeID:
		return len(value) <= 128 && is != formEmail
	case match.TypeText:
		switch a.Role {
		case match.RolePostcode:
			return len(value) <= 16 && digits > 0 && !decimalForm.MatchString(value)
		case match.RoleCountry, match.RoleRegion, match.RoleLocality:
			return is != formEmail && is != formDate && is != formURL && (letters || a.Role == match.RoleRegion) && !statuses[strings.ToLower(value)]
		}
	}
	return true
}
