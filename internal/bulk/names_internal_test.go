// SPDX-License-Identifier: Apache-2.0

package bulk

import "testing"

func TestPlainName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Kunden-Nr.": "kunden_nr", "BillingCity": "billing_city", "POCity": "po_city", "SAAddressLine1": "sa_address_line1", "URLs": "urls",
		"GmbH": "gmb_h", "ID": "id", "PLZ Ort": "plz_ort", "g:title": "title", "P:UPC": "upc", "addr:city": "addr_city", "a:": "a", "1:b": "1_b",
		"Adresse.PLZ": "plz", "Straße": "strasse",
	} {
		if got := plainName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
