// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"
	"testing"
)

func TestCutForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, rest, form string }{
		{"Acme GmbH", "acme", "gmbh"},
		{"Acme Gesellschaft mit beschränkter Haftung", "acme", "gmbh"},
		{"Acme GmbH & Co. KG", "acme", "gmbh and co kg"},
		{"Acme GmbH Berlin", "acme berlin", "gmbh"},
		{"Acme Ltd.", "acme", "ltd"},
		{"Acme Co., Limited", "acme", "ltd"},
		{"Acme Pty Ltd", "acme", "ltd"},
		{"Acme S.A.", "acme", "sa"},
		{"Acme, Inc.", "acme", "inc"},
		{"Acme Oy", "acme", "oy"},
		{"Acme Sp. z o.o.", "acme", "spzoo"},
		{"Acme spółka z ograniczoną odpowiedzialnością", "acme", "spzoo"},
		{"Acme s.r.o.", "acme", "sro"},
		{"Acme d.o.o.", "acme", "doo"},
		{"Acme OÜ", "acme", "ou"},
		{"Acme A/S", "acme", "a s"},
		{"ООО Ромашка", "romashka", "ooo"},
		{"Ромашка ООО", "romashka", "ooo"},
		{"Αλφα Ε.Π.Ε.", "alfa", "epe"},
		{"PT Telkom", "telkom", "pt"},
		{"株式会社トヨタ", "トヨタ", "株式会社"},
		{"北京科技有限公司", "北京科技", "有限公司"},
		{"GmbH", "gmbh", ""},
		{"SA Company", "sa", "co"},
		{"AS Roma", "as roma", ""},
		{"AB Blood Bank", "ab blood bank", ""},
		{"Thai Spa", "thai spa", ""},
		{"Joe's Pizza", "joes pizza", ""},
	} {
		roman, _ := romanise(fold(c.raw))
		if rest, form := cutForms(roman); rest != c.rest || form.text != c.form {
			t.Errorf("%s: %q and %q, want %q and %q", c.raw, rest, form.text, c.rest, c.form)
		}
	}
}

func FuzzCutForms(f *testing.F) {
	for _, raw := range []string{"Acme GmbH & Co. KG", "ООО Ромашка", "株式会社", "Ltd Ltd", "a s"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		folded, _ := romanise(fold(raw))
		rest, form := cutForms(folded)
		if (rest == "") != (folded == "") || form.text == "" && rest != folded || rest != strings.Join(strings.Fields(rest), " ") {
			t.Fatalf("%q: %q and %q", folded, rest, form.text)
		}
	})
}
