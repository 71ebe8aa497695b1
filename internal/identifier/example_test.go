// SPDX-License-Identifier: Apache-2.0

package identifier_test

import (
	"fmt"

	"github.com/locus-db/locus/internal/identifier"
)

func ExampleProblem() {
	for _, key := range []string{"store 17", "store 17 ", "store\u200b17"} {
		if why := identifier.Problem(key, 255); why != "" {
			fmt.Println("the key", why)
			continue
		}
		fmt.Println("good")
	}
	// Output:
	// good
	// the key begins or ends with white space
	// the key holds the character U+200B, which cannot be seen
}
