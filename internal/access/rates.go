// SPDX-License-Identifier: Apache-2.0

package access

import "cmp"

// Rates limit the requests of a principal in each process, per second. A zero field means its default.
type Rates struct {
	Requests int `json:"requests,omitempty" minimum:"1" maximum:"10000000" doc:"Requests per second; 200 by default"`
	Records  int `json:"records,omitempty" minimum:"1" maximum:"10000000" doc:"Records put or deleted per second; 20000 by default"`
	Hits     int `json:"hits,omitempty" minimum:"1" maximum:"10000000" doc:"Hits per second; 100000 by default"`
}

// DefaultRates are the rates of a principal without rates of its own.
var DefaultRates = Rates{Requests: 200, Records: 20_000, Hits: 100_000}

// MaxRate is the highest rate.
const MaxRate = 10_000_000

// WithDefaults returns the rates with their defaults.
func (r Rates) WithDefaults() Rates {
	return Rates{
		Requests: cmp.Or(r.Requests, DefaultRates.Requests),
		Records:  cmp.Or(r.Records, DefaultRates.Records),
		Hits:     cmp.Or(r.Hits, DefaultRates.Hits),
	}
}

// Valid reports whether each rate is 0 or from 1 to MaxRate.
func (r Rates) Valid() bool {
	for _, n := range []int{r.Requests, r.Records, r.Hits} {
		if n < 0 || n > MaxRate {
			return false
		}
	}
	return true
}
