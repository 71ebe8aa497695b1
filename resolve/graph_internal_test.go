// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"testing"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// A crash left edges on one side only: from 2 to 1 and to 3, and from 4 to 3. All four records are one component,
// wherever the walk begins, and no record is in two components.
func TestGraph_ComponentsOfHalfWrittenEdges(t *testing.T) {
	t.Parallel()
	edge := func(a, b entity.PUID) edges { return edges{{A: a, B: b, Weight: match.Threshold}} }
	seeds := map[entity.PUID]struct{}{1: {}, 2: {}, 3: {}, 4: {}, 5: {}}
	for range 100 { // the walk begins anywhere
		g := newGraph(newBatch(&Resolver{opts: Options{Now: time.Now}}, nil, nil, nil), map[entity.PUID]edges{
			1: nil, 2: append(edge(2, 1), edge(2, 3)...), 3: nil, 4: edge(4, 3), 5: nil,
		}, nil)
		components, _ := g.partition(seeds, true)
		in := map[entity.PUID]string{}
		for _, members := range components {
			for _, p := range members {
				if in[p] != "" {
					t.Fatalf("record %d is in two of the components %v", p, components)
				}
				in[p] = fmt.Sprint(members)
			}
		}
		if in[1] != "[1 2 3 4]" || in[5] != "[5]" {
			t.Fatalf("components %v, want 1 to 4 and 5", components)
		}
	}
}
