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
		{"websites under a name of no meaning", "id;name;strasse_nr;plz;fon;w3;mail\n1;Blaue Tür;Ring 5;10115;+49 30 123456;https://blauetuer.example;a@example.org\n2;Ecke;Weg 7;10117;+49 30 123457;https://www.ecke.example;b@example.net\n", "- key=id - name address postcode phones websites emails"},
		{"pages of one host", "id,name,w3\n1,Blue Door,https://maps.example/1\n2,Corner Bakery,https://maps.example/2\n3,Harbor Light,https://maps.example/3\n", "- key=id - name -"},
		{"pictures", "id,name,w3\n1,Blue Door,https://blue.example/a.jpg\n2,Corner Bakery,https://corner.example/b.PNG?w=9\n", "- key=id - name -"},
		{"sources", "id,name,source_url\n1,Blue Door,https://times.example/1\n2,Corner Bakery,https://post.example/2\n", "- key=id - name -"},
		{"websites beside their column", "id,name,website,w3\n1,Blue Door,blue.example,https://maps.example/1\n2,Corner Bakery,corner.example,https://net.example/2\n", "- key=id - name websites -"},
		{"phones under contact", "id,name,city,contact,fax\n1,Blue Door,Bonn,+49 228 123456,+49 228 1\n2,Corner Bakery,Kiel,+49 431 123457,+49 431 2\n", "- key=id - name city phones -"},
		{"persons under contact", "id,name,contact\n1,Blue Door,Inga Ruud\n2,Corner Bakery,Torben Vang\n", "- key=id - name -"},
		{"addresses under location", "name,neighborhood,Location 1\nBlue Door,Downtown,\"400 High Street\nLeeds\"\nCorner Bakery,Canton,\"12 Low Road\nYork\"\n", "- key=- name - address"},
		{"countries under location", "id,name,location\n1,Blue Door,Norway\n2,Corner Bakery,Denmark\n", "- key=id - name -"},
		{"a state that is none", "id,nombre,municipio,estado\n1,Puerta Azul,Anapoima,Pendiente\n2,La Esquina,Apulo,Activo\n", "- key=id - name city -"},
		{"a state of zeros and ones", "id,name,city,state\n1,Blue Door,Leeds,1\n2,Corner Bakery,York,0\n", "- key=id - name city -"},
		{"coordinates in the wrong order", "id,name,coord_x,coord_y\n1,Blue Door,19.529246,-99.047979\n2,Corner Bakery,19.52716,-99.065556\n", "- key=id - name - -"},
		{"points of the salespersons", "Code,name,Salesperson Latitude,Salesperson Longitude\nCB1,Blue Door,11.0168,76.9558\nCB2,Corner Bakery,11.1926,77.2706\n", "- key=Code - name - -"},
		{"city and state in one", "PIN,OWNER_NAME,PROP_ADDR,CITY_STATE,ZIP\n0342,BLUE CHURCH,2263 GARDNER ST,AUGUSTA GA,30904\n0343,CORNER CHURCH,15 JONES ST,AUGUSTA GA,30901\n", "- key=- - - address - postcode"},
		{"shops in Norway and in Novara", "id,name,city,province,country\n1,Blå Dør,Oslo,NO,NO\n2,L'angolo,Novara,NO,NO\n", "- key=id - name city region country"},
		{"codes with zeros before them", "id,name,batch\n1,Blue Door,0010000123\n2,Corner Bakery,0010000124\n", "- key=id - name -"},
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
