// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"fmt"

	"github.com/locus-db/locus/internal/access"
)

func Example() {
	permissions, err := access.Grant([]string{"reader"}, []string{"erase"})
	if err != nil {
		panic(err)
	}
	rule := access.All(access.Read, access.Operate)
	fmt.Println(permissions.Names())
	fmt.Println(rule, rule.Admits(permissions))
	// Output:
	// [schema read erase]
	// read and operate false
}
