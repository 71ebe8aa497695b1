// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/locus-db/locus/match"
)

// Settings of the labelled place sets: files, columns, protocol. They are frozen, because figures are comparable only
// with the same settings.
var (
	restaurantColumns = map[string]string{"name": "name", "addr": "address", "city": "city", "phone": "phones",
		"type": "category"}
	overtureColumns = map[string]string{
		"name": "name", "category": "category", "phones": "phones", "websites": "websites",
		"socials": "websites", "emails": "emails", "address": "address", "city": "city", "region": "region",
		"postcode": "postcode", "country": "country",
	}
	febrlColumns = map[string]string{
		"given_name": "given_name", "surname": "family_name", "street_number": "address", "address_1": "address",
		"suburb": "city", "postcode": "postcode", "state": "region", "date_of_birth": "birth_date",
	}
	fakeColumns = map[string]string{"first_name": "given_name", "surname": "family_name", "dob": "birth_date",
		"city": "city", "email": "emails"}
	childcareColumns = map[string]string{"Site name": "name", "Address": "address", "Zip": "postcode", "Phone": "phones"}
)

// publications returns a kind that a user would write for the columns of dblp_acm.
func publications() *match.Schema {
	kind, err := match.ParseSchema([]byte(`
kind: publication
version: 1
attributes:
  title:   { type: name, style: title }
  authors: { type: people }
  venue:   { type: text }
  year:    { type: date }
`))
	if err != nil {
		panic(err) // the text is above
	}
	return kind
}

// namedSet is a labelled set: how it is measured, and a note on how much of it the authors saw while making the match
// table and the rules. Nothing is trained on any set.
type namedSet struct {
	name string
	run  func(ctx context.Context, dir, name string, by Configuration) (*Report, error)
	note string
	// large sets have more than 10,000 records.
	large bool
}

// Configuration is the source of the weights of a run, and whether a judge is asked.
type Configuration struct {
	Terms   *match.TermFrequencies // defaults to counts over the set itself, without labels
	Learn   bool                   // learn the weights from the set, without its labels
	Answers int                    // learn the weights from answers about so many pairs
	Erring  bool                   // one of ten of these answers is wrong
	Judge   bool                   // measure also with a judge that is right nine times of ten
}

var sets = []namedSet{
	{"fodors-zagats tables", fodorsTables(false), "errors read here", false},
	{"fodors-zagats one-to-one", fodorsTables(true), "errors read here", false},
	{"fodors-zagats split, train", fodorsSplit("train"), "errors read in the tables", false},
	{"fodors-zagats split, valid", fodorsSplit("valid"), "errors read in the tables", false},
	{"fodors-zagats split, test", fodorsSplit("test"), "errors read in the tables", false},
	{"overture train", overture("train"), "errors read here", false},
	{"overture validation", overture("validation"), "its figure alone was seen", false},
	{"chicago childcare", childcare, "errors read here", false},
	{"riddle", riddle, "the restaurants of fodors-zagats, without phones", false},
	{"febrl 1", febrl("dataset1.csv"), "errors read here", false},
	{"febrl 2", febrl("dataset2.csv"), "errors read here", false},
	{"fake 1000", fake, "errors read here", false},
	{"abt-buy", twoTables("abt_buy", "abt", "buy", match.Product), "errors read here", false},
	{"dblp-acm", twoTables("dblp_acm", "dblp", "acm", publications), "errors read here", false},
	{"historical 50k", historical, "errors read here", true},
	{"fake 1000, labelled pairs", fakeLabelled, "errors read in fake 1000", false},
}

func fodorsTables(oneToOne bool) func(context.Context, string, string, Configuration) (*Report, error) {
	return func(ctx context.Context, dir, name string, by Configuration) (*Report, error) {
		dir = filepath.Join(dir, "fodors_zagats")
		return Tables(ctx, TablesOptions{
			Name: name, Left: filepath.Join(dir, "fodors.csv"), Right: filepath.Join(dir, "zagats.csv"),
			Gold: filepath.Join(dir, "matches_fodors_zagats.csv"), GoldLeft: "fodors_id", GoldRight: "zagats_id",
			OneToOne: oneToOne, Mapping: restaurantColumns, Configuration: by,
		})
	}
}

func fodorsSplit(split string) func(context.Context, string, string, Configuration) (*Report, error) {
	return func(ctx context.Context, dir, name string, by Configuration) (*Report, error) {
		o := PairsOptions{Name: name, Split: split, Mapping: restaurantColumns, Configuration: by}
		for _, s := range []string{"train", "valid", "test"} {
			path := filepath.Join(dir, "fodors_zagats", "split", s+".txt")
			if s == split {
				o.Path = path
			} else {
				o.Also = append(o.Also, path)
			}
		}
		return Pairs(ctx, o)
	}
}

func overture(split string) func(context.Context, string, string, Configuration) (*Report, error) {
	return func(ctx context.Context, dir, name string, by Configuration) (*Report, error) {
		return Pairs(ctx, PairsOptions{Name: name, Path: filepath.Join(dir, "overture_pairs", "pairs.jsonl"), Split: split,
			Mapping: overtureColumns, Configuration: by})
	}
}

func childcare(ctx context.Context, dir, name string, by Configuration) (*Report, error) {
	return Clusters(ctx, ClustersOptions{Name: name, Path: filepath.Join(dir, "chicago_childcare", "records.csv"),
		Truth: "True Id", Mapping: childcareColumns, Configuration: by})
}

func riddle(ctx context.Context, dir, name string, by Configuration) (*Report, error) {
	path := filepath.Join(dir, "fodors_zagats", "riddle")
	return Clusters(ctx, ClustersOptions{Name: name, Path: filepath.Join(path, "restaurant-nophone-training.csv"),
		Truth: "unique_id", Mapping: map[string]string{"cuisine": "category"}, Configuration: by})
}

func febrl(file string) func(context.Context, string, string, Configuration) (*Report, error) {
	return func(ctx context.Context, dir, name string, by Configuration) (*Report, error) {
		// rec-7-org and rec-7-dup-0 are the same person.
		person := func(id string) string {
			return strings.Join(strings.SplitN(id, "-", 3)[:min(2, strings.Count(id, "-")+1)], "-")
		}
		return Clusters(ctx, ClustersOptions{
			Name: name, Path: filepath.Join(dir, "febrl", file), Truth: "rec_id", TruthOf: person,
			Mapping: febrlColumns, Kind: match.Person(), Configuration: by,
		})
	}
}

func fake(ctx context.Context, dir, name string, by Configuration) (*Report, error) {
	return Clusters(ctx, ClustersOptions{
		Name: name, Path: filepath.Join(dir, "splink_fake1000", "fake_1000.csv"), Truth: "cluster",
		Mapping: fakeColumns, Kind: match.Person(), Configuration: by,
	})
}

func fakeLabelled(ctx context.Context, dir, name string, by Configuration) (*Report, error) {
	return Labelled(ctx, LabelledOptions{
		Name: name, Path: filepath.Join(dir, "splink_fake1000", "fake_1000.csv"), ID: "unique_id",
		Labels: filepath.Join(dir, "splink_fake1000", "fake_1000_labels.csv"), Left: "unique_id_l", Right: "unique_id_r",
		Label:   "clerical_match_score",
		Mapping: fakeColumns, Kind: match.Person(), Configuration: by,
	})
}

func twoTables(folder, left, right string, kind func() *match.Schema) func(context.Context, string, string, Configuration) (*Report, error) {
	return func(ctx context.Context, dir, name string, by Configuration) (*Report, error) {
		dir = filepath.Join(dir, folder)
		return Tables(ctx, TablesOptions{
			Name: name, Left: filepath.Join(dir, left+".csv"), Right: filepath.Join(dir, right+".csv"),
			Gold: filepath.Join(dir, "matches.csv"), GoldLeft: left, GoldRight: right, OneToOne: true, Kind: kind(),
			Configuration: by,
		})
	}
}

func historical(ctx context.Context, dir, name string, by Configuration) (*Report, error) {
	return Clusters(ctx, ClustersOptions{
		Name: name, Path: filepath.Join(dir, "historical_50k", "records.csv"), Truth: "truth", Kind: match.Person(),
		Configuration: by,
	})
}
