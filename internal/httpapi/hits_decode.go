// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strconv"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/strictjson"
)

// hitItem is one hit of a batch, or the reason why it is rejected.
type hitItem struct {
	hit counter.Hit
	refusal
}

func decodeHits(body []byte) ([]hitItem, error) {
	return decodeBatch(body, "hits", counter.MaxBatch, decodeHit)
}

// decodeHit reads a hit. The pointer of its fault is relative to the hit.
func decodeHit(v strictjson.Value) (it hitItem) {
	if v.Kind() != strictjson.Object {
		it.fault = wrongKind("", v, "a hit")
		return it
	}
	n, value := false, false
	it.hit.N = 1
	for name, v := range v.Members() {
		var f *Fault
		switch name {
		case "metric", "at":
			if v.Kind() != strictjson.String {
				f = wrongKind("/"+name, v, "a string")
			} else if name == "metric" {
				it.hit.Metric = counter.Metric(v.Text())
			} else {
				it.hit.At, f = instantAt("/at", v.Text())
			}
		case "n":
			n = true
			it.hit.N, f = whole("/n", v, 1, counter.MaxN)
		case "value":
			value, it.hit.Kind = true, counter.Gauge
			it.hit.N, f = whole("/value", v, -counter.MaxReading, counter.MaxReading)
		default:
			f = unknownField("", name, "metric, at, n, value")
		}
		it.note(f)
	}
	if n && value && it.fault == nil {
		it.fault = fault(CodeInvalid, "/value", "a hit has n, for a counter, or value, for a gauge, not both")
	}
	return it
}

// whole reads a number written as an integer: 1e3, 1.0 and -0 are rejected.
func whole(at string, v strictjson.Value, low, high int64) (int64, *Fault) {
	if v.Kind() != strictjson.Number {
		return 0, wrongKind(at, v, "a number")
	}
	n, err := strconv.ParseInt(v.Number(), 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != v.Number() || n < low || n > high {
		return 0, fault(CodeInvalid, at, "found %.40s, want a whole number from %d to %d", v.Number(), low, high)
	}
	return n, nil
}
