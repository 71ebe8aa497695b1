// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"testing"

	"github.com/locus-db/locus/match"
)

// TestFirms_OtherScripts compares names of firms in scripts other than Latin without anything besides them.
func TestFirms_OtherScripts(t *testing.T) {
	t.Parallel()
	compareFirms(t, true, []firms{
		{"北京市华鹰贸易有限公司", "华鹰贸易", true},
		{"華鷹貿易有限公司", "华鷹贸易", true},
		{"북부오아시스건설㈜", "주식회사 북부오아시스건설", true},
		{"㈱星野商事", "星野商事株式会社", true},
		{"(株)斎藤電機", "齋藤電機", true},
		{"شركة الأفق للتجارة", "الافق للتجاره", true},
		{"شركة الأفق للتجارة ذ.م.م", "الأفق للتجارة", true},
		{"АО «Меридиан Торг»", "Меридиан Торг", true},
		{"АО «Меридиан Торг»", "Meridian Torg", true},
		{"北京华鹰贸易", "上海华鹰贸易", false},
		{"华鹰贸易", "华鹰食品", false},
		{"星野商事", "星野食品", false},
		{"الأفق للتجارة", "الأفق للبناء", false},
	})
}

// TestPersons_OtherScripts compares the names of people who are born on one day in one city.
func TestPersons_OtherScripts(t *testing.T) {
	t.Parallel()
	m := match.New(match.Person(), nil)
	of := func(key, name string) *match.Record {
		return m.Normalise("s", key, match.Attributes{"name": {name}, "birth_date": {"1977-05-18"}, "city": {"X"}})
	}
	for _, c := range []struct {
		a, b          string
		family, given string
	}{
		{"王俊平", "王 俊平", "equal", "equal"},
		{"张伟", "張偉", "equal", "equal"},
		{"王俊平", "玉俊平", "different", "equal"},
		{"王小明", "王小红", "equal", "different"},
		{"欧阳志远", "欧阳 志远", "equal", "equal"},
		{"田中太郎", "田中　太郎", "equal", "equal"},
		{"佐々木太郎", "佐々木 太郎", "equal", "equal"},
		{"佐々木太郎", "佐々木 花子", "equal", "different"},
		{"田中さくら", "田中 さくら", "equal", "equal"},
		{"김민준", "김 민준", "equal", "equal"},
		{"남궁민수", "남궁 민수", "equal", "equal"},
		{"عبد الله الخطيب", "الخطيب، عبدالله", "equal", "equal"},
		{"فاطمة المصري", "فاطمه مصري", "equal", "equal"},
		{"جميلة الزهراني", "جميلة الراوي", "different", "equal"},
		{"Достоевский Фёдор Михайлович", "Федор Достоевский", "equal", "equal"},
		{"Достоевский Фёдор Михайлович", "Фёдор Михайлович Достоевский", "equal", "equal"},
		{"Достоевский Фёдор Михайлович", "Достоевский Ф.М.", "equal", "an initial"},
		{"Достоевский Фёдор Михайлович", "Dostoevsky, Fedor", "equal", "equal"},
		{"Жукова Жанна Петровна", "Жукова Ж.П.", "equal", "an initial"},
		{"Иванов Пётр Павлович", "Иванов Пётр Петрович", "equal", "the first equal, the second different"},
		{"Медведев М.Д.", "Medvedev, Mikhail", "equal", "an initial"},
		{"Tolkien J.R.", "John Tolkien", "equal", "an initial"},
		{"Шевченко Тарас Григорович", "Тарас Шевченко", "equal", "equal"},
		{"Γεώργιος Παπαδόπουλος", "ΠΑΠΑΔΟΠΟΥΛΟΣ, ΓΕΩΡΓΙΟΣ", "equal", "equal"},
		{"Anna Maria Rossi", "Anna Rossi", "equal", "equal"},
	} {
		t.Run(c.a+" "+c.b, func(t *testing.T) {
			t.Parallel()
			a, b := of("1", c.a), of("2", c.b)
			got := map[string]string{}
			for _, l := range m.Explain(a, b, m.Compare(a, b)).Lines {
				got[l.Attribute] = l.Level
			}
			if got["family name"] != c.family || got["given name"] != c.given {
				t.Errorf("family name %q, given name %q; want %q, %q", got["family name"], got["given name"], c.family, c.given)
			}
			if c.given == "equal" && c.family == "equal" {
				wantShared(t, a, b)
			}
		})
	}
}

// TestValues_OfOtherScripts reads digits and dates as they are written in Asia.
func TestValues_OfOtherScripts(t *testing.T) {
	t.Parallel()
	m := match.New(match.Person(), nil)
	r := m.Normalise("s", "1", match.Attributes{"phones": {"٠١١ ٤٦٥ ٠٠٠٠", "０３−３４３３−５１１１"}, "birth_date": {"１９６９年7月20日"}})
	for i, want := range []string{"0114650000", "0334335111"} {
		if got := r.Value("phones", i); got != want {
			t.Errorf("phone %d: %q, want %q", i, got, want)
		}
	}
	if got := r.Value("birth_date", 0); got != "1969-07-20" {
		t.Errorf("birth date: %q", got)
	}
}

func wantShared(t *testing.T, a, b *match.Record) {
	t.Helper()
	for _, k := range a.BlockingKeys() {
		for _, l := range b.BlockingKeys() {
			if k == l {
				return
			}
		}
	}
	t.Error("no shared blocking key")
}
