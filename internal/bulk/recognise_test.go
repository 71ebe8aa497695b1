// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// brief writes a plan as kind, key and the meaning of the columns; - means left out.
func brief(p *bulk.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s key=%s", orDash(p.Kind), orDash(strings.Join(p.Key, "+")))
	for _, c := range p.Columns {
		to := []string{}
		for _, name := range c.To {
			if name != bulk.ColumnKey {
				to = append(to, name)
			}
		}
		fmt.Fprintf(&b, " %s", orDash(strings.Join(to, "+")))
	}
	return b.String()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func recognised(t testing.TB, name, text string, o *bulk.Options) *bulk.Plan {
	t.Helper()
	p, err := bulk.Recognise(bulk.Stdin, strings.NewReader(text), match.Kinds(), o)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// Exports of many programs, in their own words: the kind, the key, and the meaning of each column, which may depend on
// its values and on the other columns. None gets a wrong key.
func TestRecognise_Headers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"contacts of a CRM", "Contact ID,First Name,Last Name,Email,Phone,Account Name\n003a,Ada,Lovelace,ada@example.org,020 7946 0018,Analytical Ltd\n003b,Alan,Turing,alan@example.org,020 7946 0019,Bletchley\n", "person key=Contact ID - given_name family_name emails phones -"},
		{"sites with programs", "Id,Site name,Program Name,Address\n1,Blue Door,Head Start,12 Main St\n2,Corner House,Head Start,5 Elm St\n", "- key=Id - name - address"},
		{"accounts of a CRM", "AccountNumber,AccountName,BillingStreet,BillingCity,BillingPostalCode,BillingCountry,Website,Industry\nA1,Blue Door,12 Main St,Springfield,62701,US,bluedoor.example,Books\nA2,Corner Bakery,5 Elm St,Springfield,62702,US,corner.example,Food\n", "- key=AccountNumber - name address city postcode country websites category"},
		{"customers of a shop", "Customer ID,First Name,Last Name,Email,Accepts Marketing,Address1,City,Province,Country,Zip,Phone\n71,Ada,Lovelace,ada@example.org,yes,1 Ring Rd,London,,GB,N1 9GU,020 7946 0018\n72,Alan,Turing,alan@example.org,no,2 Ring Rd,London,,GB,N1 9GV,020 7946 0019\n", "person key=Customer ID - given_name family_name emails - address city region country postcode phones"},
		{"products of a shop", "Handle,Title,Vendor,Type,Variant SKU,Variant Price,Variant Barcode\nred-mug,Red mug,Mugs & Co,Kitchen,MUG-1,7.50,4006381333931\nblue-mug,Blue mug,Mugs & Co,Kitchen,MUG-2,8.50,4006381333948\n", "product key=Variant SKU - title brand category - price gtin"},
		{"events by year and month", "id,user,clicks,year,month,day\n1,u17,3,2025,11,7\n2,u18,5,2025,12,8\n", "- key=id - - - - - -"},
		{"members born in parts", "id,surname,year,month,day\n1,Lovelace,1975,11,7\n2,Turing,1981,12,8\n", "person key=id - family_name birth_date birth_date birth_date"},
		{"parts of a works", "Teilenummer;Bezeichnung;Lieferant;Preis\nA-4711;Schraube M8x40;Nord;0,12\nA-4712;Schraube M8x50;Nord;0,14\n", "product key=Teilenummer - title - price"},
		{"articles of an ERP", "Artikelnummer;Bezeichnung;Hersteller;Warengruppe;EAN;Preis\n4711;Tasse rot;Töpferei;Küche;4006381333931;7,50\n4712;Tasse blau;Töpferei;Küche;4006381333948;8,50\n", "product key=Artikelnummer - title brand category gtin price"},
		{"debtors of an ERP by field names", "KUNNR\tNAME1\tSTRAS\tPSTLZ\tORT01\tLAND1\tTELF1\n0000100001\tTöpferei Nord\tHafenstr. 2\t24103\tKiel\tDE\t0431 12345\n0000100002\tBäckerei Süd\tAllee 7\t80331\tMünchen\tDE\t089 54321\n", "- key=KUNNR - name address postcode city country phones"},
		{"customers, German", "Kd-Nr;Vorname;Nachname;Geburtsdatum;Straße;PLZ;Ort;Telefon;E-Mail-Adresse\n1;Jonas;Weber;03.04.1980;Lindenweg 5;53111;Bonn;0228 123456;j@example.org\n2;Anna;Kern;05.06.1985;Ring 12;50667;Köln;0221 998877;a@example.org\n", "person key=Kd-Nr - given_name family_name birth_date address postcode city phones emails"},
		{"companies, German", "Firma;Straße und Hausnummer;PLZ;Stadt;Telefon;Webseite\nTöpferei Nord;Hafenstr. 2;24103;Kiel;0431 12345;toepferei.example\nBäckerei Süd;Allee 7;80331;München;089 54321;baeckerei.example\n", "- key=- name address postcode city phones websites"},
		{"clients, French", "N° client;Nom;Prénom;Date de naissance;Adresse;Code postal;Ville;Téléphone;Courriel\n10;Martin;Claire;12/03/1975;4 rue des Lilas;75011;Paris;01 23 45 67 89;c@example.org\n11;Petit;Luc;01/09/1990;8 rue Haute;69001;Lyon;04 23 45 67 89;l@example.org\n", "person key=N° client - name given_name birth_date address postcode city phones emails"},
		{"companies, French", "Code client;Raison sociale;Adresse;Code postal;Ville;Pays;Téléphone;Site web\nC1;Poterie du Nord;2 quai Bas;59000;Lille;FR;03 20 12 34 56;poterie.example\nC2;Boulangerie Sud;7 allée Verte;13001;Marseille;FR;04 91 12 34 56;boulangerie.example\n", "- key=Code client - name address postcode city country phones websites"},
		{"clients, Spanish", "Código cliente;Nombre de pila;Apellidos;Fecha de nacimiento;Dirección;Código postal;Población;Provincia;Teléfono;Correo electrónico\n7;Lucía;García;1980-04-03;Calle Mayor 5;28013;Madrid;Madrid;910 123 456;l@example.org\n8;Pablo;Ruiz;1985-06-05;Calle Baja 12;08001;Barcelona;Barcelona;930 123 456;p@example.org\n", "person key=Código cliente - given_name family_name birth_date address postcode city region phones emails"},
		{"clients, Italian", "Codice cliente;Ragione sociale;Indirizzo;CAP;Città;Provincia;Telefono;Sito web\n1;Ceramiche Nord;Via Roma 2;20121;Milano;MI;02 1234567;ceramiche.example\n2;Panificio Sud;Via Napoli 7;80121;Napoli;NA;081 1234567;panificio.example\n", "- key=Codice cliente - name address postcode city region phones websites"},
		{"clients, Portuguese", "Código do cliente;Primeiro nome;Sobrenome;Data de nascimento;Endereço;CEP;Cidade;Telefone;E-mail\n1;João;Silva;1980-04-03;Rua Direita 5;01001-000;São Paulo;11 91234-5678;j@example.org\n2;Ana;Souza;1985-06-05;Rua Alta 12;20010-000;Rio de Janeiro;21 91234-5678;a@example.org\n", "person key=Código do cliente - given_name family_name birth_date address postcode city phones emails"},
		{"clients, Dutch", "Klantnummer;Voornaam;Achternaam;Straat;Huisnummer;Postcode;Woonplaats;Telefoonnummer\n1;Jan;de Vries;Kerkstraat;5;1017 GA;Amsterdam;020 1234567\n2;Eva;Bakker;Dorpsweg;12;3011 AA;Rotterdam;010 1234567\n", "person key=Klantnummer - given_name family_name address address postcode city phones"},
		{"points of interest", "id|name|lat|lon|category|opening_hours|phone\nn1|Blue Door|41.5|-87.6|books|Mo-Fr 9-18|415-555-0101\nn2|Corner Bakery|41.6|-87.7|bakery|Mo-Sa 6-14|415-555-0102\n", "- key=id - name latitude longitude category hours phones"},
		{"members of a club", "Membership No,Full Name,DOB,Mobile,Home Phone,Post Code\n12,Ada Lovelace,1980-12-10,07700 900123,020 7946 0018,N1 9GU\n13,Alan Turing,1982-06-23,07700 900124,020 7946 0019,N1 9GV\n", "person key=Membership No - name birth_date phones phones postcode"},
		{"a mailing list", "email,first_name,last_name,unsubscribed_at\na@example.org,Ada,Lovelace,\nb@example.org,Alan,Turing,2026-01-02\n", "person key=- emails given_name family_name -"},
		{"a key that is not unique", "customer_id,name,city\n1,Blue Door,Springfield\n1,Corner Bakery,Springfield\n", "- key=- - name city"},
		{"a foreign key beside the key", "id,company_id,first_name,last_name\n1,7,Ada,Lovelace\n2,7,Alan,Turing\n", "person key=id - - given_name family_name"},
		{"a name whose values do not fit", "id,name,phone,email\n1,Blue Door,yes,no\n2,Corner Bakery,no,yes\n", "- key=id - name - -"},
		{"names of attributes", "source,key,name,phones\nx,1,Blue Door,415-555-0101\nx,2,Corner Bakery,415-555-0102\n", "- key=- source - name phones"},
		{"an address line beside a street number", "id,name,street_number,address_1,city\n1,Blue Door,12,High Street,Leeds\n2,Corner Bakery,9,Low Road,York\n", "- key=id - name address address city"},
		{"a street number beside addresses without one", "id,name,street_number,address,city\n1,Blue Door,12,High Street,Leeds\n2,Corner Bakery,9,Low Road,York\n", "- key=id - name address address city"},
		{"a street number beside whole addresses", "id,name,street_number,address,city\n1,Blue Door,12,12 High Street,Leeds\n2,Corner Bakery,9,9 Low Road,York\n", "- key=id - name - address city"},
		{"a house number without a street", "id,name,house_number,city\n1,Blue Door,12,Leeds\n2,Corner Bakery,9,York\n", "- key=id - name - city"},
		{"numbered rows before addresses", "no,address,name\n1,High Street,Blue Door\n2,Low Road,Corner Bakery\n", "- key=no - address name"},
		{"house numbers that differ", "CNPJ;RAZAO SOCIAL;LOGRADOURO;NUMERO;CEP\n12345678000195;PORTA AZUL LTDA;DIREITA;5;01001000\n22345678000195;PADARIA LTDA;ALTA;12;20010000\n", "- key=- tax_id name address address postcode"},
		{"offices of members", "bioguide,office_id,address,city,fax,phone\nG1,G1-brandon,308B E Government St,Brandon,,769-241-6120\nG1,G1-meridian,2214 5th St,Meridian,,601-693-6681\n", "- key=office_id - - address city - phones"},
		{"a town and a part of it", "id,name,street,locality,town\n1,Blue Door,High Street,Hatherlow,Romiley\n2,Corner Bakery,Low Road,,Leeds\n", "- key=id - name address - city"},
		{"a card of another town", "id,name,street,city,card_city,card_zip\n1,Blue Door,High Street 1,Leeds,York,YO1 7HH\n2,Corner Bakery,Low Road 2,York,Bath,BA1 1AA\n", "- key=id - name address city - -"},
		{"a street in parts", "id,name,street_no,predir,street_name,street_type,unit_no,city\n1,Blue Door,12,N,High,St,4,Leeds\n2,Corner Bakery,9,,Low,Rd,,York\n", "- key=id - name address address address address address city"},
		{"a whole address beside the type of its street", "id,name,Address,street_type,city\n1,Blue Door,12 High St,St,Leeds\n2,Corner Bakery,9 Low Rd,Rd,York\n", "- key=id - name address - city"},
		{"two addresses in two lines", "id,name,address1,address2,city\n1,Blue Door,12 High Street,9 Low Road,Leeds\n2,Corner Bakery,9 Low Road,3 Mill Lane,York\n", "- key=id - name address - city"},
		{"the numbers of orders are no keys", "Order No,name,city\n1001,Blue Door,Leeds\n1002,Corner Bakery,York\n", "- key=- - name city"},
		{"nothing that means anything", "foo,bar\nx,y\nz,w\n", "- key=- - -"},
		{"billing and shipping", "Order ID,Billing Name,Billing City,Shipping City\n1,Blue Door,Springfield,Shelbyville\n2,Corner Bakery,Springfield,Springfield\n", "- key=- - name city -"},
		{"JSON of a web shop", `[{"id": 1, "firstName": "Ada", "lastName": "Lovelace", "address": {"street": "1 Ring Rd", "city": "London"}, "contacts": [{"email": "a@example.org"}]}, {"id": 2, "firstName": "Alan", "lastName": "Turing", "address": {"street": "2 Ring Rd", "city": "London"}, "contacts": []}]`, "person key=id - given_name family_name address city emails"},
		{"a point", "X,Y,id,name\n7.09981,50.73392,1,Blue Door\n-7.10120,-50.73521,2,Corner Bakery\n", "- key=id longitude latitude - name"},
		{"golden rows of dedupe", "cluster_id,records[],name,phones[],city\n1,a:1 | b:2,Blue Door,415-555-0101 | 415-555-0102,Bonn\n2,a:3,Corner Bakery,,Kiel\n", "- key=cluster_id - - name phones city"},
		{"fields filled with blanks", "id,name,phone,email,zip\n1,Blue Door,+1 415 555 0101, ,62701\n2,Corner Bakery, ,info@corner.example,  \n3,Harbor Light,  ,,62703\n", "- key=id - name phones emails postcode"},
		{"numbers that a program made fractions", "id,name,zip,phone\n1001.0,Blue Door,62701.0,4155550101.0\n1002.0,Corner Bakery,62702.0,4155550102.0\n", "- key=id - name - -"},
		{"lines of letters", "id,Name,Bill to 1,Bill to 2,Bill to 3,Bill to 4,Ship to 1,Ship to 2\n1,Blue Door,Ada Lovelace,12 Main St,\"Springfield, IL 62701\",,Ada Lovelace,5 Elm St\n2,Corner Bakery,Alan Turing,7 Low Rd,\"Leeds, LS1 1AA\",,Alan Turing,5 Elm St\n", "- key=id - name - address address - - -"},
		{"lines without a street", "id,Name,Bill to 1,Bill to 2\n1,Blue Door,Ada Lovelace,Leeds\n2,Corner Bakery,Alan Turing,York\n", "- key=id - name - -"},
		{"metres", "X,Y,id,name\n365412.512,5622841.208,1,Blue Door\n365499.120,5622901.771,2,Corner Bakery\n", "- key=id - - - name"},
		{"pixels", "x,y,id,name\n12,80,1,Blue Door\n64,16,2,Corner Bakery\n", "- key=id - - - name"},
		{"beyond a pole", "x,y,id,name\n12.1234,99.1234,1,Blue Door\n64.1234,96.1234,2,Corner Bakery\n", "- key=id - - - name"},
		{"a whole point", "id,name,Coordinates\n1,Blue Lake,41°40′N 78°36′W\n2,Red Hill,\"40.25, -77.5\"\n", "- key=id - name latitude+longitude"},
		{"a whole point beside its parts", "id,name,coordinates,lat,lon\n1,Blue Lake,\"41.5, -78.6\",41.5,-78.6\n", "- key=id - name - latitude longitude"},
		{"coordinates of a chart", "id,name,coordinates\n1,Blue Lake,B4\n2,Red Hill,C12\n", "- key=id - name -"},
		{"a point beside its names", "X,Y,id,name,lat,lon\n7.09981,50.73392,1,Blue Door,50.73392,7.09981\n7.10120,50.73521,2,Corner Bakery,50.73521,7.10120\n", "- key=id - - - name latitude longitude"},
		{"mailboxes of people", "id,Name,Email,City\n1,Tjorven Quast,tjorven.quast@example.org,Bonn\n2,Oddvar Nissum,o.nissum2@example.org,Kiel\n3,Ylva Maarup,hello@example.org,Kiel\n", "person key=id - name emails city"},
		{"mailboxes of firms", "id,Name,Email,City\n1,Blue Door,bluedoor@example.org,Bonn\n2,Corner Bakery,info@corner.example,Kiel\n3,Harbor Light,ann.lee@example.org,Kiel\n", "- key=id - name emails city"},
		{"the shop's own mailbox", "id,Name,From Email,To Email\n1,Ada Lovelace,ada.lovelace@example.org,shop@example.org\n2,Alan Turing,aturing@example.org,shop@example.org\n3,Grace Hopper,grace@example.org,shop@example.org\n", "person key=id - name emails -"},
		{"one mailbox of all branches", "id,Name,Email\n1,Blue Door Bonn,all@example.org\n2,Blue Door Kiel,all@example.org\n3,Blue Door Ulm,all@example.org\n", "- key=id - name emails"},
		{"mail and location", "id,Name,Mailing Street,Mailing City,Location Street,Location City\n1,Blue Door,PO Box 1,Kiel,Ring 1,Bonn\n2,Corner Bakery,PO Box 2,Kiel,Ring 2,Ulm\n", "- key=id - name - - address city"},
		{"mail and a city", "id,Name,Mailing Street,Mailing City,Location City\n1,Blue Door,PO Box 1,Kiel,Bonn\n2,Corner Bakery,PO Box 2,Kiel,Ulm\n", "- key=id - name address city -"},
		{"mail and others", "id,Name,Other Street,Other City,Mailing Street,Mailing City\n1,Blue Door,Ring 1,Bonn,Weg 1,Kiel\n2,Corner Bakery,Ring 2,Ulm,Weg 2,Kiel\n", "- key=id - name - - address city"},
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

// The proposed flags read the file as the plan does, and guess nothing.
func TestRecognise_ArgsAreComplete(t *testing.T) {
	t.Parallel()
	const text = "Kunden-Nr;Vorname;Nachname;Straße;Hausnr.;PLZ;Telefon;Handy;Notiz\nK-1;Jonas;Weber;Lindenweg;5;53111;0228 123456;0170 1234567;x\nK-2;Anna;Kern;Ring;12a;50667;0221 998877;;y\n"
	p := recognised(t, "guessed", text, &bulk.Options{Source: "kunden", IgnoreUnknown: true})
	if !p.Guessed() || len(p.Questions) > 0 {
		t.Fatalf("guessed %t, questions %v", p.Guessed(), p.Questions)
	}
	o := &bulk.Options{Exact: true}
	args := p.Args()
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--source":
			o.Source = args[i+1]
		case "--kind":
			o.Kind = args[i+1]
		case "--key":
			o.Key = append(o.Key, args[i+1])
		case "--set":
			a, err := bulk.ParseAssignment(args[i+1])
			if err != nil {
				t.Fatal(err)
			}
			o.Set = append(o.Set, a)
		case "--ignore-unknown":
			o.IgnoreUnknown = true
			continue
		default:
			t.Fatalf("a flag that the test does not know: %s", args[i])
		}
		i++
	}
	said, err := bulk.Recognise(bulk.Stdin, strings.NewReader(text), []*match.Schema{match.Person()}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	if said.Guessed() {
		t.Errorf("%q leaves something to guess: %+v", args, said.Columns)
	}
	if diff := cmp.Diff(rows(t, p), rows(t, said)); diff != "" {
		t.Errorf("(-guessed +said)\n%s", diff)
	}
}

func rows(t *testing.T, p *bulk.Plan) (all []bulk.Row) {
	t.Helper()
	r, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for row, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *row)
	}
	return all
}

// Format, quotes and header are recognised from the content of a file.
func TestRecognise_Layout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		o          bulk.Options
		want       string
		first      string // name of the first row, "" to skip
	}{
		{"commas", "id,name\n1,Blue Door\n2,Corner\n", bulk.Options{}, "CSV with commas, ASCII so far", "Blue Door"},
		{"semicolons and decimal commas", "id;name;amount\n1;Blue Door;1,50\n2;Corner;2,75\n", bulk.Options{IgnoreUnknown: true}, "CSV with semicolons, ASCII so far", "Blue Door"},
		{"a line that says it", "sep=|\nid|name\n1|Blue, Door\n2|Corner\n", bulk.Options{}, "CSV with pipes, ASCII so far", "Blue, Door"},
		{"tabs, commas within", "id\tname\n1\tBlue, Door\n2\tCorner, Bakery\n", bulk.Options{}, "CSV with tabs, ASCII so far", "Blue, Door"},
		{"apostrophes that quote", "'id','name'\n'1','Joe, Inc.'\n'2','Corner'\n", bulk.Options{}, "CSV with commas, quotes ', ASCII so far", "Joe, Inc."},
		{"apostrophes that do not", "id,name\n1,'t Hooft\n2,'s Gravenhage\n", bulk.Options{}, "CSV with commas, ASCII so far", "'t Hooft"},
		{"apostrophes that quote, a bare header", "id,name\n1,'Joe, Inc.'\n2,'Corner'\n", bulk.Options{}, "CSV with commas, quotes ', ASCII so far", "Joe, Inc."},
		{"apostrophes in all of many lines", "id,name\n" + strings.Repeat("1,'Corner'\n", 12), bulk.Options{Key: []string{bulk.HashKey}, Ignore: []string{"id"}}, "CSV with commas, quotes ', ASCII so far", "Corner"},
		{"apostrophes in all of few lines", "id,name\n1,''\n", bulk.Options{}, "CSV with commas, ASCII so far", "''"},
		{"one value between apostrophes", "id,name\n1,'Nduja'\n2,Blue\n3,Corner\n4,Golden\n", bulk.Options{}, "CSV with commas, ASCII so far", "'Nduja'"},
		{"no quotes", "id,name\n" + strings.Repeat("1,\"t Hooft\n", 12), bulk.Options{Key: []string{bulk.HashKey}, Ignore: []string{"id"}}, "CSV with commas, no quotes, ASCII so far", "\"t Hooft"},
		{"Windows-1252", "id,name\n1,Caf\xe9\n2,Corner\n", bulk.Options{}, "CSV with commas, Windows-1252", "Café"},
		{"the encoding is said", "id,name\n1,Blue\n2,Corner\n", bulk.Options{Encoding: bulk.Windows1252}, "CSV with commas, Windows-1252", "Blue"},
		{"the delimiter is said", "id;name,x\n1;Blue,y\n2;Corner,z\n", bulk.Options{Delimiter: ";", Set: []bulk.Assignment{{"name", "name,x"}}}, "CSV with semicolons, ASCII so far", "Blue,y"},
		{"no header", "1,Blue\n2,Corner\n", bulk.Options{NoHeader: true, Columns: []string{"id", "name"}}, "CSV with commas, ASCII so far, no header", "Blue"},
		{"JSON lines", `{"id":1,"name":"Blue"}` + "\n" + `{"id":2,"name":"Corner"}`, bulk.Options{}, "JSON lines, UTF-8", "Blue"},
		{"JSON array", "[\n {\"id\": 1,\n  \"name\": \"Blue\"},\n {\"id\": 2, \"name\": \"Corner\"}\n]\n", bulk.Options{}, "JSON, UTF-8", "Blue"},
		{"JSON, one after another", "{\n \"id\": 1,\n \"name\": \"Blue\"\n}\n{\n \"id\": 2,\n \"name\": \"Corner\"\n}\n", bulk.Options{}, "JSON, UTF-8", "Blue"},
		{"JSON, rows in a document", `{"n": 2, "data": {"x": [1, {"items": []}], "items": [{"id": 1, "name": "Blue"}, {"id": 2, "name": "Corner"}]}, "more": {}}`, bulk.Options{Rows: "data.items"}, "JSON, rows in data.items, UTF-8", "Blue"},
		{"JSON, rows that are found beside a path in them", `{"n": 2, "items": [{"id": 1, "names": [{"is": "Blue"}]}, {"id": 2, "names": [{"is": "Corner"}]}]}`, bulk.Options{Set: []bulk.Assignment{{"name", "names[].is"}}}, "JSON, rows in items, UTF-8", "Blue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.o.Source = "x"
			p := recognised(t, c.name, c.text, &c.o)
			if got := p.Layout(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if all := rows(t, p); len(all) == 0 || all[0].Attributes["name"][0] != c.first {
				t.Errorf("rows %v, want %s first", all, c.first)
			}
		})
	}
}

// Columns that fit several kinds are assigned to the first kind, to one of people if the names are theirs, or to a likely one.
func TestRecognise_LikelyKinds(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]bulk.Options{"": {}, "person": {Likely: []string{"person"}}} {
		o.Source = "x"
		if p := recognised(t, "likely.csv", "id,name,phone\n1,Kern Bakery,415-555-2300\n2,Jo Weber,415-555-2301\n", &o); p.Kind != want {
			t.Errorf("likely %v: kind %q, want %q", o.Likely, p.Kind, want)
		}
	}
	for likely, want := range map[string]string{"": "person", "place": ""} {
		o := bulk.Options{Source: "x", Likely: []string{likely}}
		if p := recognised(t, "people.csv", "id,name,phone\n1,Peter Kern,415-555-2300\n2,Jo Weber,415-555-2301\n", &o); p.Kind != want || p.People != (want == "person") {
			t.Errorf("people, likely %q: kind %q, want %q", likely, p.Kind, want)
		}
	}
	o := bulk.Options{Source: "x", Likely: []string{"place"}}
	if p := recognised(t, "person.csv", "id,first name,last name\n1,Ada,Kern\n2,Jo,Weber\n", &o); p.Kind != "person" {
		t.Errorf("more columns count more: kind %q", p.Kind)
	}
}

// The plan asks what only a person knows, and proposes what to try.
func TestRecognise_Asks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		o          bulk.Options
		want       string
	}{
		{"no key", "name,city\nBlue,Springfield\nCorner,Springfield\n", bulk.Options{Source: "x"}, "these differ in every row that was looked at: \"name\""},
		{"no source", "id,name\n1,Blue\n2,Corner\n", bulk.Options{}, "--source NAME"},
		{"an unknown column", "id,name,colour\n1,Blue,red\n2,Corner,red\n", bulk.Options{Source: "x"}, "column \"colour\" is no attribute"},
		{"a record with a list", `{"id": 7, "contacts": [{"id": 1}, {"id": 2}]}`, bulk.Options{Source: "x"}, "--rows contacts"},
		{"a document with two lists", `{"data": {"items": [{"id": 1}, {"id": 2}], "more": [{"id": 1}, {"id": 2}]}}`, bulk.Options{Source: "x"}, "data.items and in data.more"},
		{"another delimiter", "id:name:city\n1:Blue:Springfield\n2:Corner:Springfield\n", bulk.Options{Source: "x"}, "--delimiter ':'"},
		{"another script", "id,name\n1,\xa1\xc3\xd8\xa7\xe0\xb7\xbe\n2,\xe0\xaa\xd5\xc2\xa7\xe3\xcb\xc1\xe8\n", bulk.Options{Source: "x"}, "--encoding NAME"},
		{"text in no known encoding", "id,name\n1,B\x81\x8dl\n2,C\x8d\x90l\n", bulk.Options{Source: "x"}, "--encoding NAME"},
		{"no header", "1,Blue,62701\n2,Corner,62702\n", bulk.Options{Source: "x"}, "--no-header --columns column1,column2,column3"},
		{"no header, many columns", "1,Blue,62701,a,b,c,d,e\n2,Corner,62702,a,b,c,d,e\n", bulk.Options{Source: "x"}, "--no-header --columns column1,column2,column3,column4,column5,...,column8,"},
		{"a column that is not there", "id,name\n1,Blue\n", bulk.Options{Source: "x", Key: []string{"idd"}}, "did you mean \"id\""},
		{"a path that is not there", `{"data": []}`, bulk.Options{Source: "x", Rows: "items"}, "there is no \"items\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := bulk.Recognise(bulk.Stdin, strings.NewReader(c.text), match.Kinds(), &c.o)
			text := fmt.Sprint(err)
			if err == nil {
				defer p.Close()
				text = fmt.Sprint(p.Questions)
				if _, err := p.Open(); err == nil {
					t.Error("it opens although something is asked")
				}
			} else if file, ok := errors.AsType[*bulk.FileError](err); ok {
				text += file.Hint
			}
			if !strings.Contains(text, c.want) {
				t.Errorf("%s does not say %s", text, c.want)
			}
		})
	}
}
