// SPDX-License-Identifier: Apache-2.0

package match

import "testing"

func TestIsCode(t *testing.T) {
	t.Parallel()
	for w, want := range map[string]bool{
		"sx120": true, "dscw55": true, "4546b001": true, "64327": true, "a590": true, "350dx": true,
		"s60": false, "2007": false, "camera": false, "2line": false, "10way": false, "500gb": false, "": false, "日本120": false,
	} {
		if isCode(w) != want {
			t.Errorf("%q is a model number: %v, want %v", w, !want, want)
		}
	}
}

func TestCodes_SameAndOfOneForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b       string
		same, form bool
	}{
		{"sx120", "sx120", true, true},
		{"sx120", "sx120is", true, false},
		{"ex32lp", "mdrex32lpblk", true, false},
		{"64327", "64327us", true, false},
		{"sx120", "sx1201", false, true},
		{"4546b001", "4547b001", false, true},
		{"64327", "64328", false, true},
		{"64327", "164327", false, false},
		{"dscw55", "dscw120", false, true},
		{"dle5955w", "dle5955g", false, true},
		{"a590is", "2462b001", false, false},
		{"ex32", "ex320", false, true},
		{"ab123", "longerab123", false, false},
	} {
		for _, p := range [2][2]string{{c.a, c.b}, {c.b, c.a}} {
			if sameCode(p[0], p[1]) != c.same {
				t.Errorf("%q and %q are the same: %v, want %v", p[0], p[1], !c.same, c.same)
			}
			if sameForm(p[0], p[1]) != c.form {
				t.Errorf("%q and %q are of one form: %v, want %v", p[0], p[1], !c.form, c.form)
			}
		}
	}
}

// Model numbers that are the same have one core, if the shorter one has any.
func TestCore(t *testing.T) {
	t.Parallel()
	for w, want := range map[string]string{
		"sx110is": "sx110", "sx110": "sx110", "mdrex32lpblk": "ex32", "ex32lp": "ex32", "vgncs110er": "cs110",
		"4546b001": "", "a590is": "a590", "s60": "", "64327": "",
	} {
		if got := core(w); got != want {
			t.Errorf("core of %q is %q, want %q", w, got, want)
		}
	}
}

func TestPurposeOf(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"Battery for Canon SX120":                "Canon SX120",
		"Case For MacBook Air - F8N065":          "MacBook Air",
		"Lens cap für EOS 50D (schwarz)":         "EOS 50D",
		"Kit for Nuvi 350, black":                "Nuvi 350,",
		"Canon SX120":                            "",
		"Charger fits iP4200 and iP5200 – white": "iP4200 and iP5200",
	} {
		if got := purposeOf(raw); got != want {
			t.Errorf("%q is for %q, want %q", raw, got, want)
		}
	}
}
