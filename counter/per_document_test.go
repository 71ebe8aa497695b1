// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/counter/countertest"
)

func init() {
	counter.OpenPerDocument = func(faults func(counter.SimStep) counter.SimFault) counter.Database {
		return countertest.NewApart(func(s countertest.Step) countertest.Fault {
			return countertest.Fault(faults(counter.SimStep{Write: s.Write, Day: s.Day}))
		})
	}
}
