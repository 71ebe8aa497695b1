// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"time"
)

// The plan is for this many records, with about 13 facts each.
const (
	planned     = 60e6
	cellRecords = 1e6 // per cell, as many as were measured in one
)

// onPaper prints what a run of 60 million records would take if it continued as measured: the increase of the time
// per record with each doubling is taken from the second half of the run.
func onPaper(w io.Writer, run []slice, bytes float64) {
	half := run[len(run)/2:]
	if len(half) < 3 {
		return
	}
	fastest := 0.0
	for _, s := range run {
		fastest = max(fastest, s.Machine)
	}
	// A least-squares line through the microseconds per record over the logarithm of the number of records,
	// corrected for the load of other programs.
	var n, sx, sy, sxx, sxy float64
	for _, s := range half {
		x, y := math.Log2(float64(s.Records)), 1e6/s.PerSecond*s.Machine/fastest
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	slope := max((n*sxy-sx*sy)/(n*sxx-sx*sx), 0)
	at := func(records float64) float64 { return sy/n + slope*(math.Log2(records)-sx/n) }
	last := half[len(half)-1]
	var seconds float64
	const step = planned / 60
	for records := step; records <= planned; records += step {
		seconds += step * at(max(records, float64(half[0].Records))) / 1e6
	}
	fmt.Fprintf(w, "\non paper: 800 million facts in %d million records: %v (%.0f µs a record at the end of this run, %.0f more each time that they double),\n"+
		"%.0f GB on disk, %.1f GB of memory, %d cells\n",
		int(planned/1e6), time.Duration(seconds*float64(time.Second)).Round(time.Minute), at(float64(last.Records)), slope,
		planned*bytes/1e9, last.RSS/1e3, int(planned/cellRecords))
}
