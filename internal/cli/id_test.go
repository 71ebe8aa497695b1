// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/cli"
	"github.com/locus-db/locus/locality"
)

// known is the id explained in the original documentation.
const known = "20be0ffc-314a-bd53-7a50-013a65ca76d2"

// aMap is a file with a map of one generation without an end; pastMap has two and ends.
var (
	aMap    = filepath.Join("..", "..", "cell", "testdata", "first.json")
	pastMap = filepath.Join("..", "..", "cell", "testdata", "grown.json")
)

func runIn(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	var out, talk bytes.Buffer
	code := cli.Run(t.Context(), args, stdin, &out, &talk, nil)
	return result{code, out.String(), talk.String()}
}

// version8 returns an id that has as many of the fields of known as fit.
func version8() string {
	id := locality.MustParse(known)
	id[6], id[8] = 8<<4|id[6]&0xf, 0x80|id[8]&0x3f
	return id.String()
}

func TestID_Card(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"of the source texts": {[]string{known}, `
id        20be0ffc-314a-bd53-7a50-013a65ca76d2
position  0x20be0ffc   12.7900 % of the way round the ring
counter   3,488,672,514 (0xcff0eb02)   7th digit is f: if Java made it, bits 24..27 are unknown
process   12,618        node  d:53:7a:50        time  2012-10-15 18:58:18.450 UTC (1350327498450)
order     not sequential: not within 2^24 after its window's base
`},
		"sequential, with a map": {[]string{"f5166777-7a7f-bd53-7a50-013e4e2afc26", "--map", aMap}, `
id        f5166777-7a7f-bd53-7a50-013e4e2afc26
position  0xf5166777   95.7373 % of the way round the ring
counter   2,004,246,879 (0x7776615f)
process   31,359        node  d:53:7a:50        time  2013-04-28 01:04:00.038 UTC (1367111040038)
order     sequential: number 2 of its window        cell  generation 0, cell 15 of 16 (--map)
`},
		"beyond the map": {[]string{"f5166777-7a7f-bd53-7a50-0fffffffffff", "--map", pastMap}, `
id        f5166777-7a7f-bd53-7a50-0fffffffffff
position  0xf5166777   95.7373 % of the way round the ring
counter   2,004,246,879 (0x7776615f)
process   31,359        node  d:53:7a:50        time  2527-06-23 06:20:44.415 UTC (17592186044415)
order     not sequential: not within 2^24 after its window's base        cell  none: the time of the id is later than the map covers (--map)
`},
		"version 8": {[]string{version8()}, `
id        20be0ffc-314a-8d53-ba50-013a65ca76d2
position  0x20be0ffc   12.7900 % of the way round the ring
counter   3,488,672,514 (0xcff0eb02)
process   12,618        node  3:54:fa:50        time  2012-10-15 18:58:18.450 UTC (1350327498450)
version   8: read as Locus lays it out, but such an id may be anybody's
`},
		"beyond what JSON can date": {[]string{"000000f0-0001-b000-0001-ffffffffffff"}, `
id        000000f0-0001-b000-0001-ffffffffffff
position  0x000000f0   0.0000 % of the way round the ring
counter   251,658,240 (0x0f000000)
process   1             node  0:00:00:01        time  10889-08-02 05:31:50.655 UTC (281474976710655)
order     not sequential: not within 2^24 after its window's base
`},
	} {
		got := run(t.Context(), nil, append([]string{"id"}, c.args...)...)
		if want := strings.TrimPrefix(c.want, "\n"); got.code != 0 || got.stdout != want {
			t.Errorf("%s: exit code %d, %s\n%swant\n%s", name, got.code, got.err, got.stdout, want)
		}
	}
}

// Users paste ids in any spelling; HTTP accepts one.
func TestID_AnyUsualSpelling(t *testing.T) {
	t.Parallel()
	bare := strings.ReplaceAll(known, "-", "")
	spellings := []string{
		known, strings.ToUpper(known), bare, strings.ToUpper(bare), "{" + known + "}", "{" + bare + "}",
		"urn:uuid:" + known, "URN:UUID:" + bare, " \t" + known + "\r",
	}
	want := run(t.Context(), nil, "id", known).stdout
	for _, text := range spellings {
		if got := run(t.Context(), nil, "id", text); got.stdout != want || got.code != 0 {
			t.Errorf("%q: exit code %d, %s%s", text, got.code, got.stdout, got.err)
		}
		if got := run(t.Context(), nil, "id", "--near", text); got.code != 0 || !strings.HasPrefix(got.stdout, known[:5]) {
			t.Errorf("near %q: exit code %d, %s%s", text, got.code, got.stdout, got.err)
		}
	}
	list := runIn(t, strings.NewReader(strings.Join(spellings, "\n")), "id", "-")
	if n := strings.Count(list.stdout, "\n"+known+"\t"); list.code != 0 || n != len(spellings) {
		t.Errorf("exit code %d, %d of %d lines: %s", list.code, n, len(spellings), list.err)
	}
}

func TestID_JSON(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		known: `{"id":"20be0ffc-314a-bd53-7a50-013a65ca76d2","position":549326844,"counter":3488672514,"process":12618,` +
			`"node":"d:53:7a:50","time_ms":1350327498450,"time":"2012-10-15T18:58:18.45Z","version":"b","counter_in_doubt":true,"order_guess":"not sequential"}`,
		"f5166777-7a7f-bd53-7a50-013e4e2afc26 --map " + aMap: `{"id":"f5166777-7a7f-bd53-7a50-013e4e2afc26","position":4111886199,"counter":2004246879,"process":31359,` +
			`"node":"d:53:7a:50","time_ms":1367111040038,"time":"2013-04-28T01:04:00.038Z","version":"b","counter_in_doubt":false,` +
			`"order_guess":"sequential","window_number":2,"cell":"g0-15"}`,
		version8(): `{"id":"20be0ffc-314a-8d53-ba50-013a65ca76d2","position":549326844,"counter":3488672514,"process":12618,` +
			`"node":"3:54:fa:50","time_ms":1350327498450,"time":"2012-10-15T18:58:18.45Z","version":"8","counter_in_doubt":false}`,
	} {
		got := run(t.Context(), nil, append([]string{"id", "--json"}, strings.Fields(args)...)...)
		if got.code != 0 || got.stdout != want+"\n" {
			t.Errorf("%s: exit code %d, %s\n%swant\n%s", args, got.code, got.err, got.stdout, want)
		}
	}
}

// Only a counter of 2^31 or more with an f in bits 24 to 27 may have been damaged by the Java class.
func TestID_DoubtsWhatJavaMayHaveDamaged(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"000000f8-0001-b000-0001-000000000001": true,
		"123456ff-0001-b000-0001-000000000001": true,
		"000000f7-0001-b000-0001-000000000001": false, // below 2^31
		"000000e8-0001-b000-0001-000000000001": false,
		"000000f8-0001-8000-8001-000000000001": false, // Java makes no version 8
	} {
		got := run(t.Context(), nil, "id", "--json", id)
		if says := fmt.Sprintf(`"counter_in_doubt":%v`, want); !strings.Contains(got.stdout, says) {
			t.Errorf("%s: want %s: %s%s", id, says, got.stdout, got.err)
		}
	}
}

func TestID_Errors(t *testing.T) {
	t.Parallel()
	damaged := filepath.Join(t.TempDir(), "map.json")
	if err := os.WriteFile(damaged, []byte(`{"format":"locus-cellmap/9"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, says string
	}{
		{"nonsense", `"nonsense" is not an id: want 32 hex digits`},
		{"c8c9cef9-7a7f-4d53-7a50-013e4e2afbde", "version 4 (random)"},
		{"01a1fc92-c484-7e6c-a5b6-013a65ca76d2", "version 7 (Unix time and randomness)"},
		{"c8c9cef9-7a7f-cd53-7a50-013e4e2afbde", "version c, which is neither a Locality UUID"},
		{"20be0ffc-314a-8d53-7a50-013a65ca76d2", "but not the variant of a UUID"},
		{"00000000-0000-0000-0000-000000000000", "which identifies nothing"},
		{known + " -n 3", "--number is for minting"},
		{known + " --node 3", "--node is for minting"},
		{"- --near " + known, "--near is for minting"},
		{known + " --map none.json", `"none.json": cannot be read: no such file`},
		{known + " --map " + damaged, `its format is "locus-cellmap/9"`},
		{"-n 0", "at least 1"},
		{"-n -1", "at least 1"},
		{"--order random", "--order scatter"},
		{"--near nonsense", "is not an id"},
		{"--near c8c9cef9-7a7f-4d53-7a50-013e4e2afbde", "version 4"},
		{"--near " + known + " --order scatter", "leave --order out"},
		{"--map " + aMap, "not for minting"},
		{"--node -1", "a number below 2^27"},
		{"--node 134217728", "a number below 2^27"},
		{"--node 1e3", "a number below 2^27"},
		{"--node=", "a number below 2^27"},
	} {
		got := run(t.Context(), nil, append([]string{"id"}, strings.Fields(c.args)...)...)
		if got.code != 2 || got.stdout != "" || !strings.Contains(got.err, c.says) || !strings.Contains(got.err, "\ntry: ") {
			t.Errorf("locus id %s: exit code %d, want 2, and %q:\n%s%s", c.args, got.code, c.says, got.stdout, got.err)
		}
	}
}

func TestID_Mint(t *testing.T) {
	t.Parallel()
	pid := uint16(os.Getpid())
	for _, c := range []struct {
		args string
		n    int
		node int64 // -1 for any
	}{
		{"", 1, -1},
		{"-n 10000", 10_000, -1},
		{"-n 4096 --order scatter", 4096, -1},
		{"-n 3 --order sequential --node random", 3, -1},
		{"-n 2 --node 4711", 2, 4711},
		{"-n 2 --node 134217727", 2, 1<<27 - 1},
		{"-n 5000 --near " + known, 5000, -1},
		{"-n 5 --node 4712 --near " + known, 5, 4712 | 1<<27},
	} {
		got := run(t.Context(), nil, append([]string{"id"}, strings.Fields(c.args)...)...)
		lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
		if got.code != 0 || got.err != "" || len(lines) != c.n {
			t.Fatalf("locus id %s: exit code %d, %d lines: %s", c.args, got.code, len(lines), got.err)
		}
		for _, line := range lines {
			id := locality.MustParse(line)
			process, ok := id.PID()
			node, _ := id.Node()
			if !ok || process != pid || c.node >= 0 && node != uint32(c.node) {
				t.Fatalf("locus id %s: %s: process %d, node %d", c.args, line, process, node)
			}
			if strings.Contains(c.args, "--near") && line[:5] != known[:5] {
				t.Fatalf("locus id %s: %s is not near", c.args, line)
			}
		}
		slices.Sort(lines)
		if len(slices.Compact(lines)) != c.n {
			t.Errorf("locus id %s: an id twice", c.args)
		}
	}
	if got := run(t.Context(), map[string]string{"LOCUS_NODE": "4713"}, "id"); !strings.Contains(got.stdout, "-b000-1269-") {
		t.Errorf("LOCUS_NODE=4713: %s%s", got.stdout, got.err)
	}
	if got := run(t.Context(), map[string]string{"LOCUS_NODE": "replica-3"}, "id"); got.code != 2 || !strings.Contains(got.err, "variable LOCUS_NODE") {
		t.Errorf("LOCUS_NODE=replica-3: exit code %d: %s", got.code, got.err)
	}
}
