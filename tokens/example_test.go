// SPDX-License-Identifier: Apache-2.0

package tokens_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/locus-db/locus"
	_ "github.com/locus-db/locus/storage/sqlite"
	"github.com/locus-db/locus/tokens"
)

// The first token belongs to an administrator; it can then make narrower ones.
func Example() {
	dir, err := os.MkdirTemp("", "tokens")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := locus.Open(ctx, dir, nil)
	check(err)
	defer db.Close()

	_, _, err = db.Tokens().Create(ctx, tokens.Operator(), tokens.Request{Name: "root", Roles: []string{"administrator"}})
	check(err)
	secret, _, err := db.Tokens().Create(ctx, tokens.Operator(), tokens.Request{Name: "ci", Roles: []string{"writer"}})
	check(err)
	who, err := db.Tokens().Check(ctx, secret)
	check(err)
	fmt.Println(who.Name, who.Permissions.Names())
	_, err = db.Tokens().Check(ctx, secret[:67])
	fmt.Println(errors.Is(err, tokens.ErrUnknown))
	// Output:
	// ci [schema write count]
	// true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
