// SPDX-License-Identifier: Apache-2.0

// Package processor measures the processor time of a measurement and of other programs during it.
package processor

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"time"
)

// Used is a reading of the processor time so far; the difference of two is the time in between.
type Used struct {
	at                        time.Time
	servers, program, machine time.Duration
}

// Read takes a reading. servers is the processor time of the servers that belong to the measurement.
func Read(servers time.Duration) Used { return Used{time.Now(), servers, Time(), machine()} }

// Since returns the time since an earlier reading: microseconds per item, of n, for servers and program, and the
// number of processors that other programs used.
func (u Used) Since(before Used, n int) (servers, program, others float64) {
	each := func(d time.Duration) float64 { return max(float64(d)/float64(time.Microsecond)/float64(max(n, 1)), 0) }
	s, p := u.servers-before.servers, u.program-before.program
	others = (u.machine - before.machine - s - p).Seconds() / u.at.Sub(before.at).Seconds()
	return each(s), each(p), max(others, 0)
}

// machine returns the processor time of all programs, or 0 where the system does not report it.
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
