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
		{"introduced by others", "Name,Introduced_By,Location,Notes\nTorben Vang,Rob,St Olaf,x\nInga Ruud,Alice,St Olaf,y\n", "- key=- name - - -"},
		{"towns in Danish", "id,navn,hjemby,by\n1,Blå Dør,Ribe,Vejle\n2,Hjørnet,Vejle,Ribe\n", "- key=id - name - city"},
		{"websites under a name of no meaning", "id;name;strasse_nr;plz;fon;w3;mail\n1;Blaue Tür;Ring 5;10115;+49 30 123456;https://blauetuer.example;a@example.org\n2;Ecke;Weg 7;10117;+49 30 123457;https://www.ecke.example;b@example.net\n", "- key=id - name address postcode phones websites emails"},
		{"pages of one host", "id,name,w3\n1,Blue Door,https://maps.example/1\n2,Corner Bakery,https://maps.example/2\n3,Harbor Light,https://maps.example/3\n", "- key=id - name -"},
		{"pictures", "id,name,w3\n1,Blue Door,https://blue.example/a.jpg\n2,Corner Bakery,https://corner.example/b.PNG?w=9\n", "- key=id - name -"},
		{"sources", "id,name,source_url\n1,Blue Door,https://times.example/1\n2,Corner Bakery,https://post.example/2\n", "- key=id - name -"},
		{"websites beside their column", "id,name,website,w3\n1,Blue Door,blue.example,https://maps.example/1\n2,Corner Bakery,corner.example,https://net.example/2\n", "- key=id - name websites -"},
		{"phones under contact", "id,name,city,contact,fax\n1,Blue Door,Bonn,+49 228 123456,+49 228 1\n2,Corner Bakery,Kiel,+49 431 123457,+49 431 2\n", "- key=id - name city phones -"},
		{"persons under contact", "id,name,contact\n1,Blue Door,Inga Ruud\n2,Corner Bakery,Torben Vang\n", "- key=id - name -"},
		{"mailboxes under login", "no,name,login,assigned_to\n1,Blue Door,a@example.org,x@example.com\n2,Corner Bakery,b@example.org,y@example.com\n", "- key=no - name emails -"},
		{"addresses under location", "name,neighborhood,Location 1\nBlue Door,Downtown,\"400 High Street\nLeeds\"\nCorner Bakery,Canton,\"12 Low Road\nYork\"\n", "- key=- name - address"},
		{"countries under location", "id,name,location\n1,Blue Door,Norway\n2,Corner Bakery,Denmark\n", "- key=id - name -"},
		{"names in two languages", "slug,name_en,name_ar,cuisine,lat,lng\nblue-door,Blue Door,باب,Books,25.3690,51.5510\ncorner,Corner Bakery,ركن,Food,25.2877,51.5333\n", "- key=slug - name - category latitude longitude"},
		{"the language of most rows", "id,name_ar,name_en\n1,باب,Blue Door\n2,ركن,Corner Bakery\n3,,Harbor Light\n", "- key=id - - name"},
		{"a name beside translations", "id,name:de,name,name:fr\n1,Tür,Blue Door,Porte\n2,Ecke,Corner Bakery,Coin\n", "- key=id - - name -"},
		{"titles of a language", "id,title_fr,author\n1,La porte bleue,Inga Ruud\n2,Le coin,Torben Vang\n", "- key=id - name -"},
		{"names in JSON by language", `[{"id": 1, "name": {"en": "Blue Door", "ar": "باب"}, "city": "Doha"}, {"id": 2, "name": {"en": "Corner Bakery", "ar": "ركن"}, "city": "Doha"}]`, "- key=id - name - city"},
		{"ends that are no languages", "name,name_id,city_id,name_no\nBlue Door,7,1,4\nCorner Bakery,8,1,5\n", "- key=- name - - -"},
		{"slugs", "slug,name,city\nblue-door,Blue Door,Leeds\ncorner-bakery,Corner Bakery,York\n", "- key=slug - name city"},
		{"municipalities", "id,name,address,postal_code,municipality\n1,Blue Door,High Street 1,1100-491,Lisboa\n2,Corner Bakery,Low Road 2,1200-637,Lisboa\n", "- key=id - name address postcode city"},
		{"a city beside municipalities", "id,name,municipality,city\n1,Blue Door,Grand Lisboa,Lisboa\n2,Corner Bakery,Grand Lisboa,Sintra\n", "- key=id - name - city"},
		{"companies, nouns first", "Nom_Societe;Type;Adresse_Client;Code_Postal;Ville\nPorte Bleue;Client;15 Rue Haute;76000;Rouen\nAu Coin;Client;10 Quai Bas;76600;Le Havre\n", "- key=- name category address postcode city"},
		{"customers, nouns first", "KeyCliente,CodigoCliente,NombreCliente,TelefonoCliente,Ciudad\n1639,ALF,Puerta Azul,910 123 456,Madrid\n1640,ANA,La Esquina,910 123 457,Sevilla\n", "- key=KeyCliente - - name phones city"},
		{"hospitals, nouns first", "Sr. No.,Name of Hospital,Address of the Hospital,Name of Director\n1,Blue Hospital,12 Main Road,Inga Ruud\n2,Corner Clinic,7 Low Road,Torben Vang\n", "- key=- - name address -"},
		{"patients, nouns first", "id_paciente,nombre_paciente,telefono_paciente,nombre_medico\n1,Inga Ruud,910 123 456,Torben Vang\n2,Jonas Kern,910 123 457,Torben Vang\n", "person key=id_paciente - name phones -"},
		{"suppliers, Spanish", "idproveedor,nombre,telefono,idLocalidad\n1,Puerta Azul,910 123 456,1\n2,La Esquina,910 123 457,2\n", "- key=idproveedor - name phones -"},
		{"libraries, Slovak", "\"ID knižnice\",\"Názov knižnice\",\"Ulica\",\"PSČ\",\"Mesto\",\"Kraj\",\"Krajina\",\"Zemepisná šírka\",\"Zemepisná dĺžka\"\n47,Modrá,Dlhá 5,120 00,Praha 2,Praha,Česko,50.071889,14.437047\n24,Rohová,Krátka 7,100 00,Praha 10,Praha,Česko,50.075226,14.450153\n", "- key=ID knižnice - name address postcode city region country latitude longitude"},
		{"clinics, Japanese", "ID,名称,名称_カナ,所在地_連結表記,所在地_市区町村,緯度,経度,電話番号\n0001,青山医院,アオヤマイイン,福岡県飯塚市高田972,飯塚市,33.602539,130.637022,0948-22-6328\n0002,角医院,カドイイン,福岡県飯塚市大分144,飯塚市,33.588374,130.632007,0948-72-0072\n", "- key=ID - name - address city latitude longitude phones"},
		{"a state that is none", "id,nombre,municipio,estado\n1,Puerta Azul,Anapoima,Pendiente\n2,La Esquina,Apulo,Activo\n", "- key=id - name city -"},
		{"a state of zeros and ones", "id,name,city,state\n1,Blue Door,Leeds,1\n2,Corner Bakery,York,0\n", "- key=id - name city -"},
		{"numbers to call", "Name,Contact No,City\nBlue Door,9876543210,Pune\nCorner Bakery,9876543211,Nagpur\n", "- key=- name phones city"},
		{"numbers of contacts", "Contact No,Name,City\nCT-0001,Blue Door,Leeds\nCT-0002,Corner Bakery,York\n", "- key=Contact No - name city"},
		{"customers that are firms", "cliente,email,ciudad\nPuerta Azul,a@example.org,Sevilla\nLa Esquina,b@example.org,Madrid\n", "- key=- name emails city"},
		{"names of provinces", "id,nom,province_id,province_nom,nom_commune\n1,Porte Bleue,2,Nord,Lille\n2,Au Coin,3,Sud,Arles\n", "- key=id - name - region city"},
		{"coordinates in the wrong order", "id,name,coord_x,coord_y\n1,Blue Door,19.529246,-99.047979\n2,Corner Bakery,19.52716,-99.065556\n", "- key=id - name - -"},
		{"points of the salespersons", "Code,name,Salesperson Latitude,Salesperson Longitude\nCB1,Blue Door,11.0168,76.9558\nCB2,Corner Bakery,11.1926,77.2706\n", "- key=Code - name - -"},
		{"city and state in one", "PIN,OWNER_NAME,PROP_ADDR,CITY_STATE,ZIP\n0342,BLUE CHURCH,2263 GARDNER ST,AUGUSTA GA,30904\n0343,CORNER CHURCH,15 JONES ST,AUGUSTA GA,30901\n", "- key=- - - address - postcode"},
		{"shops in Norway and in Novara", "id,name,city,province,country\n1,Blå Dør,Oslo,NO,NO\n2,L'angolo,Novara,NO,NO\n", "- key=id - name city region country"},
		{"codes with zeros before them", "id,name,batch\n1,Blue Door,0010000123\n2,Corner Bakery,0010000124\n", "- key=id - name -"},
		{"schools with their heads", "URN,EstablishmentName,Street,Town,Postcode,SchoolWebsite,TelephoneNum,HeadFirstName,HeadLastName\n100000,Blue School,High Street 1,Leeds,LS1 1AA,www.blue.example,2072831147,Inga,Ruud\n100001,Corner School,Low Road 2,York,YO1 7HH,http://www.corner.example,2078475500,Torben,Vang\n", "- key=URN - name address city postcode websites phones - -"},
		{"schools, French", "Identifiant_de_l_etablissement;Nom_etablissement;Type_etablissement;Adresse_1;Code_postal;Nom_commune;Code_region;Libelle_region\n0010001W;Porte Bleue;Lycée;12 rue Haute;01000;Bourg;84;Auvergne\n0010002X;Au Coin;Collège;5 rue Basse;01100;Oyonnax;84;Auvergne\n", "- key=Identifiant_de_l_etablissement - name category address postcode city - region"},
		{"invoices", "no_facture;nom;ville\n1001;Porte Bleue;Lille\n1002;Au Coin;Arles\n", "- key=- - name city"},
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
