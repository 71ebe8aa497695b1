// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/access"
)

// FuzzCredential reads Authorization headers: every result occurs in the header, and /v1 accepts nothing that a browser
// adds by itself.
func FuzzCredential(f *testing.F) {
	token, _ := access.NewToken()
	for _, header := range []string{
		"", "Bearer", "Bearer ", "Bearer " + token, "bearer " + token, "Bearer  " + token, "Bearer " + token + " ", token,
		"Basic " + base64.StdEncoding.EncodeToString([]byte("x:"+token)),
		"Basic " + base64.StdEncoding.EncodeToString([]byte(token)), "Basic %",
		"Basic " + base64.StdEncoding.EncodeToString([]byte("a:b:"+token)), "Digest " + token, "Bearer\t" + token, "\x00",
		"Bearer " + access.NewBootstrap(),
	} {
		f.Add(header, "/v1/entities")
		f.Add(header, "/entities")
	}
	f.Fuzz(func(t *testing.T, header, path string) {
		r := &http.Request{Header: http.Header{"Authorization": {header}}, URL: &url.URL{Path: path}}
		got := credential(r)
		scheme, value, _ := strings.Cut(header, " ")
		pair, _ := base64.StdEncoding.DecodeString(value)
		switch {
		case got == "":
		case strings.EqualFold(scheme, "Bearer") && got == value:
		case strings.EqualFold(scheme, "Basic") && !ofAPI(path) && strings.HasSuffix(string(pair), ":"+got):
		default:
			t.Errorf("%q at %q is %q", header, path, got)
		}
		if id, _, err := access.ParseToken(got); err == nil && (len(id) != 8 || !strings.Contains(got, "_"+id+"_")) {
			t.Errorf("the id of %q is %q", got, id)
		}
		r.Header["Authorization"] = append(r.Header["Authorization"], header)
		if got := credential(r); got != "" {
			t.Errorf("two headers are %q", got)
		}
	})
}
