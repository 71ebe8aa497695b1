// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// Only one command at a time writes in a database. The first write to a collection runs alone over all databases,
// and so do creation and dropping; readers only wait for the latter.
func TestTurns_AreTaken(t *testing.T) {
	t.Parallel()
	cmd := func(name, database, collection string) command {
		return command{name: name, database: database, collection: collection}
	}
	write, find, drop := cmd("update", "a", "x"), cmd("find", "a", "x"), cmd("drop", "a", "x")
	for name, tc := range map[string]struct {
		first, second command
		waits         bool
	}{
		"two writes of a collection":        {write, cmd("findAndModify", "a", "x"), true},
		"two writes of a database":          {write, cmd("insert", "a", "y"), true},
		"writes of two databases":           {write, cmd("delete", "b", "x"), false},
		"the first write to a collection":   {write, cmd("insert", "b", "new"), true},
		"a write after the first to one":    {cmd("insert", "b", "new"), write, true},
		"a reader beside a writer":          {write, find, false},
		"a reader beside who drops":         {drop, find, true},
		"a reader of what is being made":    {cmd("insert", "b", "new"), find, true},
		"a list beside a writer":            {write, cmd("listCollections", "b", ""), true},
		"an index beside a writer":          {cmd("createIndexes", "b", "x"), write, true},
		"hello beside who drops":            {drop, cmd("hello", "admin", ""), false},
		"two readers":                       {find, cmd("getMore", "a", "x"), false},
		"a drop of another database's":      {cmd("dropDatabase", "b", ""), write, true},
		"what is made again after a drop":   {cmd("update", "b", "dropped"), write, true},
		"a bulk of several collections":     {write, cmd("bulkWrite", "admin", ""), true},
		"a writer beside what is explained": {cmd("explain", "a", ""), write, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turns := newTurns()
			turns.take(cmd("insert", "b", "dropped"))()
			turns.take(drop)()
			for _, c := range []command{write, cmd("insert", "a", "y"), cmd("insert", "b", "x")} {
				turns.take(c)()
			}
			end := turns.take(tc.first)
			var ended atomic.Bool
			taken := make(chan bool, 1)
			go func() {
				defer turns.take(tc.second)()
				taken <- ended.Load()
			}()
			if tc.waits {
				for range 1000 {
					runtime.Gosched() // gives a command that does not wait time to run
				}
				ended.Store(true)
				end()
			} else {
				defer end()
			}
			if waited := <-taken; waited != tc.waits {
				t.Errorf("the second waited: %v", waited)
			}
		})
	}
}
