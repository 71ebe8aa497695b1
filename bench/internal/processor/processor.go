// SPDX-License-Identifier: Apache-2.0

// Package processor tells what a measurement has had of the processors, and what others took of them meanwhile.
package processor

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"time"
)

// Used is a reading of what has been had so far; two of them tell what was had in between.
type Used struct {
	at                        time.Time
	servers, program, machine time.Duration
}

// Read takes a reading: servers is what the servers that belong to the measurement have had.
func Read(servers time.Duration) Used { return Used{time.Now(), servers, Time(), machine()} }

// Since is what was had since another reading, by n of something: in microseconds by the servers and by the
// program, and how many processors others had.
func (u Used) Since(before Used, n int) (servers, program, others float64) {
	each := func(d time.Duration) float64 { return max(float64(d)/float64(time.Microsecond)/float64(max(n, 1)), 0) }
	s, p := u.servers-before.servers, u.program-before.program
	others = (u.machine - before.machine - s - p).Seconds() / u.at.Sub(before.at).Seconds()
	return each(s), each(p), max(others, 0)
}

// machine is what everybody has had of them, 0 where the system does not tell.
func machine() (busy time.Duration) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan()
	// cpu user nice system idle iowait irq softirq steal, in hundredths of a second
	for i, field := range strings.Fields(lines.Text()) {
		n, err := strconv.ParseInt(field, 10, 64)
		if err == nil && i != 4 && i != 5 && i <= 8 {
			busy += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return busy
}
