// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/cli"
)

// Minted ids can be explained, and each is one step after the previous one.
func TestID_MintedIsExplained(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"variable", "sequential"} {
		minted := run(t.Context(), nil, "id", "-n", "5000", "--order", order)
		got := runIn(t, strings.NewReader(minted.stdout), "id", "-", "--json", "--map", aMap)
		if got.code != 0 || got.err != "" {
			t.Fatalf("exit code %d: %s", got.code, got.err)
		}
		n := 0
		for line := range strings.Lines(got.stdout) {
			var f struct {
				Type, ID, Cell string
				Steps          *int
			}
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				t.Fatal(err)
			}
			// A new window may begin between two ids of Sequential order.
			if f.Type != "result" || f.Cell == "" || (f.Steps == nil) != (n == 0) || n > 0 && *f.Steps != 1 &&
				order == "variable" {
				t.Fatalf("%s, line %d: %s", order, n+1, line)
			}
			n++
		}
		if n != 5000 {
			t.Errorf("%s: %d lines", order, n)
		}
	}
}

func TestID_List(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 200_000)
	stdin := strings.Join([]string{
		"20be0ffc-314a-bd53-7a50-013a65ca76d2",
		"no id",
		"f5166776-7a7f-bd53-7a50-013e4e2afc26", // of another process
		version8(),
		long,
		"20be0ffc-314a-bd53-7a50-013a65ca76d2" + strings.Repeat(" ", 100_000) + "x",
		"c646a97e-314a-bd53-7a50-013a65ca76d2", // two steps after the first
		"f5166779-7a7f-bd53-7a50-013e4e2afc26", // three steps further in the window
		"c8c9cef9-7a7f-4d53-7a50-013e4e2afbde",
		"f5166779-7a7f-bd53-7a50-013e4e2afc26", // without a line end
	}, "\n")
	want := strings.Join([]string{
		"id\tposition\tcounter\tprocess\tnode\ttime\tversion\torder_guess\twindow_number\tsteps\tcell",
		"20be0ffc-314a-bd53-7a50-013a65ca76d2\t549326844\t3488672514\t12618\td:53:7a:50\t2012-10-15T18:58:18.45Z\tb\tnot sequential\t\t\tg0-2",
		"f5166776-7a7f-bd53-7a50-013e4e2afc26\t4111886198\t1735811423\t31359\td:53:7a:50\t2013-04-28T01:04:00.038Z\tb\tsequential\t1\t\tg0-15",
		"20be0ffc-314a-8d53-ba50-013a65ca76d2\t549326844\t3488672514\t12618\t3:54:fa:50\t2012-10-15T18:58:18.45Z\t8\t\t\t\tg0-2",
		"c646a97e-314a-bd53-7a50-013a65ca76d2\t3326519678\t3885655148\t12618\td:53:7a:50\t2012-10-15T18:58:18.45Z\tb\tnot sequential\t\t2\tg0-12",
		"f5166779-7a7f-bd53-7a50-013e4e2afc26\t4111886201\t2541117791\t31359\td:53:7a:50\t2013-04-28T01:04:00.038Z\tb\tsequential\t4\t3\tg0-15",
		"f5166779-7a7f-bd53-7a50-013e4e2afc26\t4111886201\t2541117791\t31359\td:53:7a:50\t2013-04-28T01:04:00.038Z\tb\tsequential\t4\t0\tg0-15",
		"",
	}, "\n")
	got := runIn(t, strings.NewReader(stdin), "id", "-", "--map", aMap)
	if got.code != 3 || got.stdout != want {
		t.Errorf("exit code %d, want 3, and\n%swant\n%s", got.code, got.stdout, want)
	}
	var bad []string
	for line := range strings.Lines(got.err) {
		bad = append(bad, line[:min(len(line), 15)])
	}
	if want := []string{`line 2: "no id"`, `line 5: "aaaaaa`, `line 6: "20be0f`, `line 9: c8c9cef`, `locus: 4 lines `, `try:   the numb`}; !slices.Equal(bad, want) || len(got.err) > 1000 {
		t.Errorf("stderr %q, want %q:\n%s", bad, want, got.err)
	}
}

// slow returns one line per read, and expects the answer to each before the next.
type slow struct {
	t     *testing.T
	out   *bytes.Buffer
	asked int
}

func (s *slow) Read(p []byte) (int, error) {
	if got := strings.Count(s.out.String(), known); got != s.asked {
		s.t.Errorf("%d lines in, %d out", s.asked, got)
	}
	if s.asked == 3 {
		return 0, io.EOF
	}
	s.asked++
	return copy(p, known+"\n"), nil
}

func TestID_ListAnswersWhoWaits(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := cli.Run(t.Context(), []string{"id", "-"}, &slow{t: t, out: &out}, &out, io.Discard, nil); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// zeros is a stream without line ends.
type zeros struct{ left int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left <= 0 {
		return 0, io.EOF
	}
	z.left -= len(p)
	return len(p), nil
}

func TestID_ListHoldsNoLongLine(t *testing.T) { //nolint:paralleltest // counts what the process allocates
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := runIn(t, &zeros{left: 64 << 20}, "id", "-")
	runtime.ReadMemStats(&after)
	if got.code != 3 || !strings.HasPrefix(got.err, "line 1: ") || len(got.err) > 1000 {
		t.Errorf("exit code %d: %.1000s", got.code, got.err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes for a line of 64 MiB", n)
	}
}
