// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/locus-db/locus/internal/access"
)

// ratesFlag is --rate.
type ratesFlag struct{ rates *access.Rates }

// Set implements pflag.Value.
func (f *ratesFlag) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		to := map[string]*int{"requests": &f.rates.Requests, "records": &f.rates.Records,
			"hits": &f.rates.Hits}[strings.TrimSpace(name)]
		n, err := strconv.Atoi(number)
		if to == nil || err != nil || n < 1 || n > access.MaxRate {
			return fmt.Errorf("%.40q is no rate: want requests=N, records=N or hits=N, N from 1 to %d, separated by commas",
				part, access.MaxRate)
		}
		*to = n
	}
	return nil
}

// Type implements pflag.Value.
func (f *ratesFlag) Type() string { return "RATES" }

// String implements pflag.Value.
func (f *ratesFlag) String() string { return "" }
