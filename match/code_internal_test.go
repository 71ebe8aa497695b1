// SPDX-License-Identifier: Apache-2.0

package match

import "testing"

func TestIsCode(t *testing.T) {
	t.Parallel()
	for w, want := range map[string]bool{
		"sx120": true, "dscw55": true, "4546b001": true, "64327": true, "a590": true, "350dx": true, "1234abc": true,
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
		{"acs110", "bcs1200", false, false},
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

// Without statistics, few records are assumed to have a long model number; with statistics the count decides.
func TestHeld(t *testing.T) {
	t.Parallel()
	counted := &TermFrequencies{records: 100, texts: 100, tokens: map[uint64]uint32{
		textHash("sx120"): rareCode, textHash("sx130"): rareCode + 1, textHash("sx140"): commonCode, textHash("sx150"): commonCode + 1,
	}}
	for _, c := range []struct {
		terms *TermFrequencies
		w     string
		want  held
	}{
		{DefaultTermFrequencies(), "a590i", heldByFew},
		{DefaultTermFrequencies(), "1080p", heldBySome},
		{DefaultTermFrequencies(), "64327", heldBySome},
		{DefaultTermFrequencies(), "643270", heldByFew},
		{DefaultTermFrequencies(), "s120", heldBySome},
		{counted, "sx110", heldByFew},
		{counted, "sx120", heldByFew},
		{counted, "sx130", heldBySome},
		{counted, "sx140", heldBySome},
		{counted, "sx150", heldByMany},
	} {
		if got := c.terms.held(c.w); got != c.want {
			t.Errorf("%q is held by %d, want %d", c.w, got, c.want)
		}
	}
}

func TestCompareCodes(t *testing.T) {
	t.Parallel()
	few := func(list ...string) (codes []code) {
		for _, w := range list {
			codes = append(codes, code{w, heldByFew})
		}
		return codes
	}
	for _, c := range []struct {
		name string
		a, b codes
		want agreement
	}{
		{"nothing", codes{}, codes{own: few("sx120")}, codesSilent},
		{"other forms", codes{own: few("a590is")}, codes{own: few("2462b001")}, codesSilent},
		{"title and title", codes{own: few("sx120")}, codes{own: few("sx120is")}, codesAgreeRare},
		{"title and text", codes{own: few("sx120")}, codes{told: few("kx88b", "sx120")}, codesAgreeRare},
		{"text and text", codes{told: few("sx120")}, codes{told: few("sx120")}, codesSilent},
		{"title and id", codes{own: few("sx120")}, codes{ids: few("sx120")}, codesAgreeRare},
		{"text and id", codes{told: few("sx120")}, codes{ids: few("sx120")}, codesAgreeRare},
		{"id and id, which have their line", codes{ids: few("sx120")}, codes{ids: few("sx120")}, codesSilent},
		{"written apart", codes{joined: few("sx120")}, codes{own: few("sx120is")}, codesAgreeRare},
		{"apart in both", codes{joined: few("sx120")}, codes{joined: few("sx120")}, codesSilent},
		{"the part of one apart", codes{own: few("4546b001"), joined: few("x4547b001")}, codes{own: few("4547b001")}, codesAgreeRare},
		{"some have it", codes{own: []code{{"sx120", heldBySome}}}, codes{own: few("sx120")}, codesAgree},
		{"many have it", codes{own: []code{{"sx120", heldByMany}}}, codes{own: few("sx120")}, codesAgreeCommon},
		{"neighbours", codes{own: few("4546b001")}, codes{own: few("4547b001")}, codesDiffer},
		{"neighbours, one an id", codes{own: few("4546b001")}, codes{ids: few("4547b001")}, codesDiffer},
		{"neighbours, one of a text", codes{own: few("4546b001")}, codes{told: few("4547b001")}, codesDiffer},
		{"what a text names among others", codes{own: few("4546b001")}, codes{told: few("4547b001", "kx88b")}, codesSilent},
		{"one agrees, others differ", codes{own: few("s3200", "3780001")}, codes{own: few("s3200", "3880001")}, codesBoth},
		{"the other has it in its text", codes{own: few("s3200", "3780001")}, codes{own: few("3880001"), told: few("3780001")}, codesAgreeRare},
	} {
		if got := compareCodes(&c.a, &c.b); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if got := compareCodes(&c.b, &c.a); got != c.want {
			t.Errorf("%s, the other way round: %d, want %d", c.name, got, c.want)
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

// Letters followed by digits may be one model number; a year, a measure and words before any number are not.
func TestJoinedCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ letters, w, want string }{
		{"pslx", "350h", "pslx350h"},
		{"dsc", "120", "dsc120"},
		{"of", "1200", ""},
		{"windows", "7500", ""},
		{"office", "2007", ""},
		{"sony", "2007", ""},
		{"disk", "500gb", ""},
		{"x", "350", ""},
		{"ab", "1", ""},
		{"dsc1", "120", ""},
	} {
		if got := joinedCode(c.letters, c.w); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.letters, c.w, got, c.want)
		}
	}
}
