// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"
	"testing"
)

func TestParsePhone(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{ // "" is a null value
		"415-555-2300": "+14155552300", "1 (415) 555 2300": "+14155552300", "+1.415.555.2300": "+14155552300", "001 415 555 2300": "+14155552300",
		// Area codes and exchanges begin with 2 or more.
		"215 255 2300": "+12152552300", "115 555 2300": "1155552300", "415 155 2300": "4151552300", "1 115 555 2300": "11155552300",
		// A trunk prefix is removed after a country code, in brackets or where the number cannot begin with a zero.
		"+44 (0) 20 7946 0958": "+442079460958", "44 (0) 20 7946 0958": "4402079460958", "+44 0 20 7946 0958": "+442079460958",
		"+49 030 123456": "+4930123456", "0049 030 123456": "+4930123456", "+49 0049 30 123456": "+4904930123456", "+353 01 234 5678": "+35312345678",
		"+39 06 1234567": "+39061234567", "+378 0549 123456": "+3780549123456", "+225 07 12 34 56 78": "+2250712345678", "+1 012 345 6799": "+10123456799",
		"+44 (0 20) 7946 0958": "+442079460958", "+44 (20 0) 7946 0958": "+4420079460958",
		"0044 20 7946 0958": "+442079460958", "020 7946 0958": "02079460958", "040 20 7946 0958": "0402079460958",
		"+49 30 1234567": "+49301234567", "49+30 1234567": "49301234567", "+1 2345679": "+12345679",
		// At least seven digits, at most fifteen.
		"555230": "", "5552301": "5552301", "+555230": "", "00555230": "", "123456789012346": "123456789012346", "1234567890123468": "",
		"12345678901234689": "", "+" + strings.Repeat("12", 7) + "3": "+" + strings.Repeat("12", 7) + "3", "+" + strings.Repeat("12", 8): "", "+" + strings.Repeat("12", 20): "",
		// Extensions and further numbers.
		"5552301x12": "5552301", "555230x1": "5552301", "415-555-2300 ext. 5": "+14155552300", "415-555-2300#5": "+14155552300",
		"415-555-2300; 415-555-2301": "+14155552300", "415-555-2300, 2301": "+14155552300", "415-555-2300/2301": "+14155552300",
		"555-2300/23": "555230023", "030/1234567": "0301234567", "tel 5552301": "5552301", "555#2301": "5552301",
		// Placeholders.
		"5555555": "", "0000000000": "", "415-555-5555": "", "415-555-5556": "+14155555556", "4445555555": "", "4155555552": "+14155555552",
		"1234567": "", "1234567890": "", "7890123": "", "12345679": "12345679", "9876543": "9876543", "n/a": "", "": "",
	} {
		p, ok := parsePhone(raw)
		if p.text != want || ok != (want != "") {
			t.Errorf("%q is %q, %v; want %q", raw, p.text, ok, want)
		}
	}
}

func TestComparePhones(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want level
	}{
		{"415-555-2300", "+1 415 555 2300", phoneEqual},
		{"06 12 34 56 78", "+33 6 12 34 56 78", phoneEqual},
		{"+39 112 345 678", "112345678", phoneEqual}, // nine digits are enough
		{"12 34 56 79", "415 234 5679", phoneEqual},  // the last seven of eight
		{"555-2300", "415-555-2300", phoneEqual},     // no area code
		{"555-2300", "555-2300", phoneEqual},         //
		{"415-555-2300", "510-555-2300", phoneSeven}, // another area
		{"112 345 679", "412 345 679", phoneSeven},   // the ninth digit counts
		{"555-2300", "415-565-2300", phoneDifferent}, // too short to tolerate a typo
		{"415-555-2300", "415-555-2301", phoneNear},  //
		{"415-555-2300", "415-555-2390", phoneNear},  //
		{"415-555-2300", "415-555-2311", phoneDifferent},
		{"415-555-2300", "415-555-3300", phoneOneOff},
		{"415-555-2300", "415-595-2300", phoneOneOff},
		{"415-555-2300", "415-535-2400", phoneDifferent},
		{"5552300", "5552900", phoneOneOff},
		{"5552300", "4552300", phoneOneOff},
	} {
		a, _ := parsePhone(c.a)
		b, _ := parsePhone(c.b)
		for range 2 {
			if got := comparePhone(&a, &b); got != c.want {
				t.Errorf("%s and %s are at level %d, want %d", c.a, c.b, got, c.want)
			}
			a, b = b, a
		}
	}
	// The best pair counts, wherever it is.
	m := New(Place(), nil)
	one, _ := parsePhone("415-555-2300")
	near, _ := parsePhone("415-555-2301")
	other, _ := parsePhone("212-444-9876")
	for _, b := range [][]phone{{other, near, one}, {one, near, other}, {near, one}} {
		if got := m.comparePhones(&Record{phones: []phone{other, one}}, &Record{phones: b}); got != phoneEqual {
			t.Errorf("the best pair is at level %d", got)
		}
	}
	if got := m.comparePhones(&Record{}, &Record{phones: []phone{one}}); got != levelNone {
		t.Errorf("without a number it is level %d", got)
	}
}

// All branches of a firm have its free number.
func TestPhone_Free(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"0800 024 6279": true, "+44 800 024 6279": true, "0044 370 529 0720": true, "1-800-555-2301": true, "(888) 555-2301": true, "+49 180 5552301": true, "+61 1300 555 231": true,
		"+44 20 7946 0958": false, "415-555-2301": false, "+49 30 1234567": false, "+61 3 5552 3010": false, "030/1234567": false, "08005": false,
	} {
		if p, _ := parsePhone(raw); p.free != want {
			t.Errorf("%s: %v, want %v", raw, p.free, want)
		}
	}
	m := New(Place(), nil)
	for phone, want := range map[string]level{"0800 024 6279": phoneMany, "020 7946 0958": phoneEqual} {
		a, b := Attributes{"name": {"Acme"}, "phones": {phone}}, Attributes{"name": {"Acme North"}, "phones": {phone}}
		if v := m.Compare(m.Normalise("s", "1", a), m.Normalise("s", "2", b)); v.level(fieldPhone) != want {
			t.Errorf("%s: level %d, want %d", phone, v.level(fieldPhone), want)
		}
	}
}
