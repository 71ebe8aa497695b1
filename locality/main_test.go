// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/locus-db/locus/locality"
)

// mintEnv makes the test binary mint that many IDs, as bytes on its standard output, instead of running tests;
// forcedEnv gives them all one identity.
const mintEnv, forcedEnv = "LOCUS_TEST_MINT", "LOCUS_TEST_FORCED"

func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(mintEnv)); err == nil {
		if err := mintOut(n, os.Getenv(forcedEnv) != ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // events
	os.Exit(m.Run())
}

func mintOut(n int, forced bool) error {
	g, err := locality.NewGenerator(nil)
	if forced {
		g, err = locality.NewGeneratorAs(&locality.Options{Now: at(1.7e12), Rand: seeded(1)}, func() int { return 1 })
	}
	if err != nil {
		return err
	}
	w := bufio.NewWriter(os.Stdout)
	for range n {
		id := g.New()
		if _, err := w.Write(id[:]); err != nil {
			return err
		}
	}
	return w.Flush()
}

// mintInProcess returns the IDs that another process mints.
func mintInProcess(t *testing.T, n int, forced bool) []locality.ID {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), mintEnv+"="+strconv.Itoa(n))
	if forced {
		cmd.Env = append(cmd.Env, forcedEnv+"=1")
	}
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ids := make([]locality.ID, n)
	for i := range ids {
		if _, err := io.ReadFull(pipe, ids[i][:]); err != nil {
			t.Errorf("id %d: %v", i, err)
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return ids
}
