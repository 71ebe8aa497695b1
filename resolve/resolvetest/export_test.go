// SPDX-License-Identifier: Apache-2.0

package resolvetest

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// Verdict is how a case ended.
type Verdict struct {
	Failed bool
	Log    string
}

// VerdictOf runs a case on a cell and tells how it ended instead of failing.
func VerdictOf(name string, cell Cell) Verdict {
	w := &watcher{name: name}
	for _, c := range cases {
		if c.name == name {
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.run(w, cell)
			}()
			<-done
		}
	}
	return Verdict{Failed: w.failed, Log: w.log.String()}
}

// watcher is a tester that remembers. Like testing.T, it ends the goroutine of a case that fails or
// skips.
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
