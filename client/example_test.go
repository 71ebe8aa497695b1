// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/locus-db/locus/client"
	"github.com/locus-db/locus/counter"
)

func Example() {
	ctx := context.Background()
	// This example's server runs in the process; most programs omit the options.
	c, err := client.New("http://127.0.0.1:7070", &client.Options{HTTP: &http.Client{Transport: newServer()}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := c.Hit(ctx, "page /index.html"); err != nil {
		fmt.Println(err)
	}
	results, err := c.Add(ctx, []counter.Hit{
		{Metric: "page /about.html", N: 3},
		{Metric: "room temperature", Kind: counter.Gauge, N: 215},
	})
	fmt.Println(results, err)
	fmt.Println(c.Close(ctx))
	// Output:
	// [<nil> <nil>] <nil>
	// <nil>
}
