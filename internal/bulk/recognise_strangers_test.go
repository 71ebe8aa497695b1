// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Files that were prepared for no program, by the headers and shapes that they have: what names mean in the order of
// other languages, columns that only their values explain, and columns that look like others.
func TestRecognise_Strangers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"introduced by somebody", "Name,Introduced_By,Location,Notes\nTorben Vang,Rob,St Olaf,x\nInga Ruud,Alice,St Olaf,y\n", "- key=- name - - -"},
		{"a state that is none", "id,nombre,municipio,estado\n1,Puerta Azul,Anapoima,Pendiente\n2,La Esquina,Apulo,Activo\n", "- key=id - name city -"},
		{"a state of zeros and ones", "id,name,city,state\n1,Blue Door,Leeds,1\n2,Corner Bakery,York,0\n", "- key=id - name city -"},
		{"points of the salespersons", "Code,name,Salesperson Latitude,Salesperson Longitude\nCB1,Blue Door,11.0168,76.9558\nCB2,Corner Bakery,11.1926,77.2706\n", "- key=Code - name - -"},
		{"city and state in one", "PIN,OWNER_NAME,PROP_ADDR,CITY_STATE,ZIP\n0342,BLUE CHURCH,2263 GARDNER ST,AUGUSTA GA,30904\n0343,CORNER CHURCH,15 JONES ST,AUGUSTA GA,30901\n", "- key=- - - address - postcode"},
		{"shops in Norway and in Novara", "id,name,city,province,country\n1,Blå Dør,Oslo,NO,NO\n2,L'angolo,Novara,NO,NO\n", "- key=id - name city region country"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := recognised(t, c.name, c.text, nil)
			if diff := cmp.Diff(c.want, brief(p)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
