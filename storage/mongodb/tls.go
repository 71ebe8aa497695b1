// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/cell"
)

// encrypt requires verified TLS for connections to other hosts. A URI that asks for less is refused unless unsafe
// is set: an attacker on the path could read and impersonate.
func encrypt(client *options.ClientOptions, uri, shown string, unsafe bool) error {
	if !slices.ContainsFunc(client.Hosts, exposed) {
		return nil
	}
	if client.TLSConfig == nil && !refusesTLS(uri) {
		client.SetTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	if t := client.TLSConfig; (t == nil || t.InsecureSkipVerify) && !unsafe {
		return fmt.Errorf("%w: the connection to %s would not be verified: write tls=true, or leave it out",
			cell.ErrPreflight, shown)
	}
	return nil
}

// exposed reports whether host is another machine.
func exposed(host string) bool {
	if strings.HasSuffix(host, ".sock") {
		return false
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host != "localhost" && (err != nil || !addr.Unmap().IsLoopback())
}

// refusesTLS reports whether a URI disables TLS. The driver's options do not distinguish that from a URI that does not
// mention TLS.
func refusesTLS(uri string) bool {
	_, query, _ := strings.Cut(uri, "?")
	for option := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(strings.ToLower(option), "=")
		if (name == "tls" || name == "ssl") && value == "false" {
			return true
		}
	}
	return false
}
