// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// vector is a family of metrics with the same name and label names: one T for each combination of
// label values that was used. Values come from fixed lists, so there are few.
type vector[T any] struct {
	name, help, kind string
	labels           []string
	mu               sync.RWMutex
	series           map[string]*T // by the labels as they are written
}

// with answers with the series of some label values, in the order of the names.
func (v *vector[T]) with(values ...string) *T {
	key := labelled(v.labels, values)
	v.mu.RLock()
	s := v.series[key]
	v.mu.RUnlock()
	if s != nil {
		return s
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.series == nil {
		v.series = map[string]*T{}
	}
	if v.series[key] == nil {
		v.series[key] = new(T)
	}
	return v.series[key]
}

// each visits the series in the order of their labels.
func (v *vector[T]) each(visit func(labels string, s *T)) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	keys := make([]string, 0, len(v.series))
	for key := range v.series {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		visit(key, v.series[key])
	}
}

// header writes what stands before the series of a family.
func header(w io.Writer, name, help, kind string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes one value. Labels are as labelled writes them.
func sample(w io.Writer, name, labels string, value float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(w, "%s%s %s\n", name, labels, number(value))
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func labelled(names, values []string) string {
	if len(names) != len(values) {
		panic(fmt.Sprintf("obs: %d values for the labels %q", len(values), names))
	}
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(name + `="` + escaper.Replace(values[i]) + `"`)
	}
	return b.String()
}

// numbers is a counter or a gauge of whole numbers.
type numbers = vector[atomic.Int64]

func writeNumbers(w io.Writer, v *numbers) {
	header(w, v.name, v.help, v.kind)
	v.each(func(labels string, n *atomic.Int64) { sample(w, v.name, labels, float64(n.Load())) })
}

// bounds are the upper ends of the buckets of a histogram in seconds: from half a millisecond, a read
// from memory, to the 10 s after which a request ends.
var bounds = [...]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// histogram counts durations by bucket; the last bucket has no end.
type histogram struct {
	mu      sync.Mutex
	buckets [len(bounds) + 1]int64
	sum     float64
}

func (h *histogram) observe(seconds float64) {
	i, _ := slices.BinarySearch(bounds[:], seconds)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buckets[i]++
	h.sum += seconds
}

func writeHistograms(w io.Writer, v *vector[histogram]) {
	header(w, v.name, v.help, v.kind)
	v.each(func(labels string, h *histogram) {
		h.mu.Lock()
		buckets, sum := h.buckets, h.sum
		h.mu.Unlock()
		var total int64
		for i, n := range buckets {
			total += n
			end := "+Inf"
			if i < len(bounds) {
				end = number(bounds[i])
			}
			sample(w, v.name+"_bucket", labels+`,le="`+end+`"`, float64(total))
		}
		sample(w, v.name+"_sum", labels, sum)
		sample(w, v.name+"_count", labels, float64(total))
	})
}
