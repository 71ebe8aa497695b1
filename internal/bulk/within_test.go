// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// A name of a column that has an alias among other words means the attribute, unless it is about another person.
func TestRecognise_NamesWithOtherWords(t *testing.T) {
	t.Parallel()
	for columns, want := range map[string]string{
		"RES_ADDR,RES_CITY,Hotelname":                      "address city name",
		"name_first,name_last,inventor_city":               "given_name family_name city",
		"FIRST_NAME,MID,LAST_NAME,voter_date_of_birth":     "given_name given_name family_name birth_date",
		"vorname,zweiter_vorname,nachname,patientenstadt":  "given_name given_name family_name city",
		"name,owner_phone,previous_address,father_name":    "name - - -",
		"by,bm,bd,fname_c1,fname_c2,lname_c1,lname_c2":     "birth_date birth_date birth_date given_name given_name family_name family_name",
		"apellido,nombre,dia,mes,anio":                     "family_name name birth_date birth_date birth_date",
		"surname,forename,suffix,Year of birth,occupation": "family_name given_name family_name birth_date category",
		"student_name,dob_year,dob_month,birth_place":      "name birth_date birth_date city",
		"name,city,job_title,payment_type,usage_country":   "name city - - country",
	} {
		rows := map[string]string{
			"date": "1980-02-01", "by": "1980", "bm": "2", "bd": "29", "dia": "29", "mes": "2", "anio": "1980", "dob_year": "1980", "dob_month": "02", "Year": "1980",
			"suffix": "Jr", "phone": "020 7946 0018", "country": "FR"}
		var values []string
		for c := range strings.SplitSeq(columns, ",") {
			value := "Anna Kern"
			for word, of := range rows {
				if strings.Contains(c, word) {
					value = of
				}
			}
			values = append(values, value)
		}
		p, err := bulk.Recognise("-", strings.NewReader(columns+"\n"+strings.Join(values, ",")+"\n"), match.Kinds(), &bulk.Options{Source: "s"})
		if err != nil {
			t.Fatal(columns, err)
		}
		var got []string
		for _, c := range p.Columns {
			got = append(got, strings.Join(slices.Compact(c.To), "+"))
			if len(c.To) == 0 {
				got[len(got)-1] = "-"
			}
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: %s, want %s", columns, g, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
