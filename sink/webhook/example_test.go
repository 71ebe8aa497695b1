// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/webhook"
)

// A receiver verifies a request with a library for Standard Webhooks.
func Example() {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		verifier, _ := standard.NewWebhook(secret)
		fmt.Println(r.Header.Get("webhook-id"), verifier.Verify(body, r.Header))
		fmt.Println(string(body))
	}))
	defer server.Close()
	secrets, err := webhook.ParseSecrets(secret)
	if err != nil {
		panic(err)
	}
	s, err := webhook.Open(server.URL, webhook.Options{Name: "crm", Secrets: secrets})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	fmt.Println(s.Deliver(context.Background(), sink.Batch{Token: 1, Events: []sink.Event{{
		ID: locality.ID{0: 0x20, 15: 1}, Rev: 1<<40 + 1, Op: sink.Upsert, Kind: "place", At: "g0-3:18",
		Records: []string{"crawl:a7"}, View: map[string]any{"name": "Golden Bakery"},
	}}}))
	// Output:
	// crm.20000000-0000-0000-0000-000000000001.1099511627777 <nil>
	// {"id":"20000000-0000-0000-0000-000000000001","rev":"1099511627777","op":"upsert","kind":"place","at":"g0-3:18","records":["crawl:a7"],"view":{"name":"Golden Bakery"}}
	// <nil>
}
