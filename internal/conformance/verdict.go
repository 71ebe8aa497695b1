// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// ExpectFailures is for the TestMain of a package whose histories are expected to fail: they are not saved or
// shrunk.
func ExpectFailures() {
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "1ms"} {
		if err := flag.Set(name, value); err != nil {
			panic(fmt.Sprintf("conformance: -%s=%s: %v", name, value, err))
		}
	}
}

// Bugs lists mistakes that a backend could make, by the names under which a test plants them.
type Bugs struct {
	// ByCase maps each bug to the case that finds it.
	ByCase map[string]string
	// ByModel lists bugs that only show in a sequence of calls. The comparison with a model must find each in one
	// of Tries runs of random histories.
	ByModel []string
	Tries   int
}

// ModelCase is the name of the case that compares random histories with a model.
const ModelCase = "AgreesWithModel"

// FindsEveryBug plants one bug at a time; each must be found.
func (s Suite[C]) FindsEveryBug(t *testing.T, open func(t *testing.T, bug string) C, bugs Bugs) {
	t.Helper()
	for bug, by := range bugs.ByCase {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			if !s.VerdictOf(by, open(t, bug)).Failed {
				t.Errorf("%s did not find it", by)
			}
		})
	}
	for _, bug := range bugs.ByModel {
		t.Run("model: "+bug, func(t *testing.T) {
			t.Parallel()
			for range bugs.Tries {
				if s.VerdictOf(ModelCase, open(t, bug)).Failed {
					return
				}
			}
			t.Error("the model did not find it")
		})
	}
}

// Verdict is the outcome of a case.
type Verdict struct {
	Failed bool
	Log    string
}

// VerdictOf runs a case on a cell and returns its outcome instead of failing. It panics if there is no such case.
func (s Suite[C]) VerdictOf(name string, cell C) Verdict {
	for _, c := range s {
		if c.Name == name {
			w := &watcher{name: name}
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.Run(w, cell)
			}()
			<-done
			return Verdict{Failed: w.failed, Log: w.log.String()}
		}
	}
	panic("conformance: no case " + name)
}

// watcher is a TB that records failures. Like testing.T, it ends the goroutine of a case that fails or skips.
type watcher struct {
	name   string
	mu     sync.Mutex
	log    strings.Builder
	failed bool
}

func (w *watcher) Helper()                           {}
func (w *watcher) Name() string                      { return w.name }
func (w *watcher) Log(args ...any)                   { w.note(fmt.Sprintln(args...), false) }
func (w *watcher) Logf(format string, args ...any)   { w.note(fmt.Sprintf(format+"\n", args...), false) }
func (w *watcher) Error(args ...any)                 { w.note(fmt.Sprintln(args...), true) }
func (w *watcher) Errorf(format string, args ...any) { w.note(fmt.Sprintf(format+"\n", args...), true) }
func (w *watcher) Fail()                             { w.note("", true) }
func (w *watcher) FailNow()                          { w.note("", true); runtime.Goexit() }
func (w *watcher) Fatal(args ...any)                 { w.Error(args...); runtime.Goexit() }
func (w *watcher) Fatalf(format string, args ...any) { w.Errorf(format, args...); runtime.Goexit() }
func (w *watcher) SkipNow()                          { runtime.Goexit() }
func (w *watcher) Skip(args ...any)                  { w.Log(args...); runtime.Goexit() }
func (w *watcher) Skipf(format string, args ...any)  { w.Logf(format, args...); runtime.Goexit() }

func (w *watcher) Failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

func (w *watcher) note(text string, failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log.WriteString(text)
	w.failed = w.failed || failed
}
