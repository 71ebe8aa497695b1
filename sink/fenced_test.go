// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
)

// An owner that holds the lease but is fenced reports why, because no other process does its work. Once the target is
// back, the trouble ends even if there is nothing to deliver.
func TestRunner_SaysWhyItCannotRun(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l, store, row := newLocked(0), &sinktest.Store{}, &leases{}
			taken := &sinktest.Memory{Keeps: true}
			if err := taken.Deliver(t.Context(), sink.Batch{Token: 100}); err != nil {
				t.Fatal(err)
			}
			stop := start(t, sink.New(options(l, taken, store, row.holder("a"))))
			pass(10 * time.Second)
			if p, _ := store.Load(t.Context()); !strings.Contains(p.Trouble, "a process with a higher token delivers") || p.Failed == 0 {
				t.Errorf("the progress is %+v", p)
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			stop = start(t, sink.New(options(l, &sinktest.Memory{Keeps: keeps}, store, row.holder("b"))))
			pass(10 * time.Second)
			if p, _ := store.Load(t.Context()); p.Trouble != "" {
				t.Errorf("the target is there, and the progress is %+v", p)
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
