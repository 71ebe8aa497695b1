// SPDX-License-Identifier: Apache-2.0

package mutant_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// bugs are all that are planted: which test of which package must find each.
var bugs = []struct{ name, what, pkg, test string }{
	{"P1a", "a record of a batch is acknowledged and not written", "e2e", "TestP01_TestP09_KilledServer"},
	{"P7b", "a wall clock that went back is ignored", "locality", "TestP07_JumpsOfTheClockDrawTheIdentityAgain"},
	{"P7c", "a forked process goes on with the identity of its parent", "locality", "TestP07_ForkedProcesses"},
	{"P7d", "a mint near something does not notice that the counter came round", "locality", "TestP07_NearFrozenClock"},
	{"P9a", "records that a generic feature joined stay joined", "resolve", "TestResolver_AnyOrderGivesTheSameEntities"},
	{"P9b", "the id of a merged entity leads nowhere", ".", "TestP09_AnIdLeadsToItsEntityForEver"},
	{"P9c", "a record is written without its redo entry", "resolve", "TestP09_ACrashBetweenAnyTwoCommitsIsRepaired"},
	{"P9d", "a repair leaves out who shares a feature", "resolve", "TestP09_ACrashBetweenAnyTwoCommitsIsRepaired"},
	{"P9e", "a deletion leaves the edges of others behind", "resolve", "TestResolver_DeletionUndoesExactlyWhatTheRecordDid"},
	{"P9f", "a component that grew over the limit is cut around the new record only", "resolve", "TestResolver_AComponentOverTheLimitIsCut"},
}

func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the tests again with planted bugs")
	}
	for _, bug := range bugs {
		t.Run(bug.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run", "^"+bug.test+"$", "./"+bug.pkg)
			cmd.Dir = "../.."
			// By the environment, so that binaries which the tests build have the bug too.
			cmd.Env = append(os.Environ(), "LOCUS_MUTANT="+bug.name, "GOFLAGS="+os.Getenv("GOFLAGS")+" -tags=mutants")
			out, err := cmd.CombinedOutput()
			switch {
			case err == nil:
				t.Errorf("planted: %s; %s did not find it", bug.what, bug.test)
			case !bytes.Contains(out, []byte("--- FAIL: "+bug.test)):
				t.Errorf("planted: %s; %s failed for another reason:\n%s", bug.what, bug.test, out)
			}
		})
	}
}
