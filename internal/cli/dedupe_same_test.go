// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// labelled is where the labelled sets are; see eval.
const labelled = "../../../shared/data"

// The clusters of a dedupe are the entities of an import of the same rows.
func TestDedupe_MakesTheEntitiesOfAnImport(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	sameClusters(t, "id", generated(t, 600), "--kind", "place", "--ignore-unknown")
}

// The same on every labelled set of tables.
func TestDedupe_MakesTheEntitiesOfAnImportOfLabelledSets(t *testing.T) {
	t.Parallel()
	longtest.Only(t, "TestDedupe_MakesTheEntitiesOfAnImport does the same with generated rows")
	if _, err := os.Stat(labelled); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the labelled sets are not at %s", labelled)
	}
	for name, set := range map[string]struct {
		files []string
		key   string
		flags []string
	}{
		"fodors_zagats": {[]string{"fodors.csv", "zagats.csv"}, "id", []string{"--kind", "place"}},
		"febrl": {[]string{"dataset1.csv", "dataset2.csv"}, "rec_id", []string{
			"--kind", "person", "--set", "given_name=given_name", "--set", "family_name=surname", "--set",
			"address={street_number} {address_1}",
			"--set", "city=suburb", "--set", "postcode=postcode", "--set", "region=state", "--set", "birth_date=date_of_birth",
		}},
		"splink_fake1000": {[]string{"fake_1000.csv"}, "unique_id", []string{"--kind", "person"}},
		"chicago_childcare": {[]string{"records.csv"}, "Id", []string{
			"--kind", "place", "--set", "name=Site name", "--set", "address=Address", "--set", "postcode=Zip", "--set",
			"phones=Phone",
		}},
		"abt_buy":        {[]string{"abt.csv", "buy.csv"}, "id", []string{"--kind", "product"}},
		"dblp_acm":       {[]string{"dblp.csv", "acm.csv"}, "id", []string{"--kind", "product"}},
		"historical_50k": {[]string{"records.csv"}, "key", []string{"--kind", "person"}},
	} {
		t.Run(name, func(t *testing.T) {
			var files []string
			for _, f := range set.files {
				// refused rows are written next to them
				files = append(files, write(t, f, written(t, filepath.Join(labelled, name, f))))
			}
			sameClusters(t, set.key, files, append(set.flags, "--ignore-unknown")...)
		})
	}
}

// sameClusters compares the clusters that dedupe makes of files with the entities that an import makes, and exports.
// Rows may be refused, but the same ones.
func sameClusters(t *testing.T, key string, files []string, flags ...string) {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{"LOCUS_DATA": filepath.Join(dir, "data")}
	accepted := func(args ...string) {
		t.Helper()
		if r := run(t.Context(), env, args...); r.code != 0 && r.code != 3 {
			t.Fatalf("%v: exit %d: %s", args, r.code, r.err)
		}
	}
	flags = append(flags, "--key", key)
	out, links := filepath.Join(dir, "out.csv"), filepath.Join(dir, "links.csv")
	accepted(slices.Concat([]string{"dedupe", "--learn=false", "-o", out}, flags, files)...)
	accepted(slices.Concat([]string{"ingest", "--yes"}, flags, files)...)
	accepted("export", "links", "-o", links)
	one := strings.TrimSuffix(filepath.Base(files[0]), ".csv")
	deduped := clustersOf(t, out, func(row map[string]string) (string, string) {
		source := row["source"]
		if len(files) == 1 {
			source = one
		}
		return strings.TrimSpace(row["cluster_id"]), source + ":" + strings.TrimSpace(row[key])
	})
	imported := clustersOf(t, links, func(row map[string]string) (string, string) { return row["entity"], row["source"] + ":" + row["key"] })
	if !slices.Equal(deduped, imported) {
		t.Errorf("%d clusters of a dedupe, %d entities of an import", len(deduped), len(imported))
		for _, c := range deduped {
			if _, same := slices.BinarySearch(imported, c); !same {
				t.Fatalf("no entity has exactly the records %s", c)
			}
		}
	}
	t.Logf("%d clusters", len(deduped))
}

// clustersOf returns the members of each cluster of a table, in one order. Rows without a cluster are left out.
func clustersOf(t *testing.T, name string, of func(row map[string]string) (cluster, member string)) []string {
	t.Helper()
	rows := rowsOf(t, name)
	members := map[string][]string{}
	for _, values := range rows[1:] {
		row := map[string]string{}
		for i, column := range rows[0] {
			row[strings.TrimSpace(column)] = values[i]
		}
		if cluster, member := of(row); cluster != "" {
			members[cluster] = append(members[cluster], member)
		}
	}
	var all []string
	for _, m := range members {
		slices.Sort(m)
		all = append(all, strings.Join(slices.Compact(m), " "))
	}
	slices.Sort(all)
	return all
}
