// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a column means may depend on its values and on the other columns.
func TestRecognise_ByOtherColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"a point", "X,Y,id,name\n7.09981,50.73392,1,Blue Door\n-7.10120,-50.73521,2,Corner Bakery\n", "- key=id longitude latitude - name"},
		{"golden rows of dedupe", "cluster_id,records[],name,phones[],city\n1,a:1 | b:2,Blue Door,415-555-0101 | 415-555-0102,Bonn\n2,a:3,Corner Bakery,,Kiel\n", "- key=cluster_id - - name phones city"},
		{"fields filled with blanks", "id,name,phone,email,zip\n1,Blue Door,+1 415 555 0101, ,62701\n2,Corner Bakery, ,info@corner.example,  \n3,Harbor Light,  ,,62703\n", "- key=id - name phones emails postcode"},
		{"numbers that a program made fractions", "id,name,zip,phone\n1001.0,Blue Door,62701.0,4155550101.0\n1002.0,Corner Bakery,62702.0,4155550102.0\n", "- key=id - name - -"},
		{"lines of letters", "id,Name,Bill to 1,Bill to 2,Bill to 3,Bill to 4,Ship to 1,Ship to 2\n1,Blue Door,Ada Lovelace,12 Main St,\"Springfield, IL 62701\",,Ada Lovelace,5 Elm St\n2,Corner Bakery,Alan Turing,7 Low Rd,\"Leeds, LS1 1AA\",,Alan Turing,5 Elm St\n", "- key=id - name - address address - - -"},
		{"lines without a street", "id,Name,Bill to 1,Bill to 2\n1,Blue Door,Ada Lovelace,Leeds\n2,Corner Bakery,Alan Turing,York\n", "- key=id - name - -"},
		{"metres", "X,Y,id,name\n365412.512,5622841.208,1,Blue Door\n365499.120,5622901.771,2,Corner Bakery\n", "- key=id - - - name"},
		{"pixels", "x,y,id,name\n12,80,1,Blue Door\n64,16,2,Corner Bakery\n", "- key=id - - - name"},
		{"beyond a pole", "x,y,id,name\n12.1234,99.1234,1,Blue Door\n64.1234,96.1234,2,Corner Bakery\n", "- key=id - - - name"},
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
			if diff := cmp.Diff(c.want, brief(recognised(t, c.name, c.text, nil))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
