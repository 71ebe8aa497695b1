// SPDX-License-Identifier: Apache-2.0

package secret_test

import (
	"fmt"

	"github.com/locus-db/locus/secret"
)

func Example() {
	options := struct {
		User     string
		Password secret.Text
	}{"locus", secret.New("hunter2")}
	fmt.Printf("%+v\n", options)
	fmt.Println(len(options.Password.Reveal()))
	// Output:
	// {User:locus Password:redacted}
	// 7
}
