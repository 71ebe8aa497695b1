// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"

	"github.com/locus-db/locus/match"
)

func Example() {
	m := match.New(match.Place(), nil)
	a := m.Normalise("crawl", "17", match.Attributes{
		"name": {"Joes Pizza"}, "address": {"1000 Market Street"}, "phones": {"415-555-2300"},
	})
	b := m.Normalise("vendor", "x-9", match.Attributes{
		"name": {"Joe's"}, "address": {"1000 Market St."}, "phones": {"(415) 555-2300"},
	})

	e := m.Explain(a, b, m.Compare(a, b))
	for _, l := range e.Lines {
		fmt.Printf("%6s  %s: %s\n", l.Weight, l.Attribute, l.Level)
	}
	fmt.Printf("%6s  %s\n", e.Weight, e.Outcome)
	for _, f := range e.BlockingKeys {
		fmt.Printf("met by %s: %s\n", f.Kind, f.Text)
	}
	// Output:
	//  +4.50  name: mostly alike
	//  -0.30  name residual: one keeps a word
	//  +9.00  phone: equal
	//  +6.50  address: street and number equal
	// +19.70  same
	// met by house number and street: 1000 · market
	// met by phone: 155552300
}

func ExampleCluster() {
	nodes := []match.NodeKey{{Source: "a", Key: "1"}, {Source: "a", Key: "2"}, {Source: "b", Key: "1"}, {Source: "b", Key: "2"}}
	// Two strong pairs, and one weak edge that would chain them together.
	edges := []match.Edge{{A: 0, B: 2, Weight: 1500}, {A: 1, B: 3, Weight: 1500}, {A: 2, B: 3, Weight: 600}}
	for _, thing := range match.Cluster(nodes, edges, match.Unmet{}) {
		for _, i := range thing {
			fmt.Print("[", nodes[i].Source, nodes[i].Key, "]")
		}
		fmt.Println()
	}
	// Output:
	// [a1][b1]
	// [a2][b2]
}

// A set that fits into memory is resolved without a store.
func ExampleClusterAll() {
	m := match.New(match.Place(), nil)
	var records []*match.Record
	var nodes []match.NodeKey
	for i, name := range []string{"Joes Pizza", "Zanzibar Grill", "Joe's Pizza"} {
		node := match.NodeKey{Source: "crawl", Key: fmt.Sprint(i)}
		records = append(records, m.Normalise(node.Source, node.Key, match.Attributes{
			"name": {name}, "address": {"1000 Market Street"}, "city": {"San Francisco"},
		}))
		nodes = append(nodes, node)
	}
	var edges []match.Edge
	for _, pair := range match.Candidates(records) {
		v := m.Compare(records[pair[0]], records[pair[1]])
		if m.Decide(v) != match.Different {
			edges = append(edges, match.Edge{A: pair[0], B: pair[1], Weight: m.Evidence(v)})
		}
	}
	fmt.Println(match.ClusterAll(nodes, edges, match.Unmet{}))
	// Output:
	// [[0 2] [1]]
}

func ExampleSchema_Check() {
	problems := match.Place().Check(match.Attributes{"nam": {"Joe's"}, "country": {"US"}})
	for _, p := range problems {
		fmt.Println(p.Code, p)
	}
	// Output:
	// unknown_attribute nam: kind place has no attribute "nam": did you mean "name"?
}
