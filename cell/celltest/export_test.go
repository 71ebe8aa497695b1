// SPDX-License-Identifier: Apache-2.0

package celltest

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

// Verdicts runs all cases, each on a fresh cell, and tells how they ended instead
// of failing.
func Verdicts(open func() Cell) map[string]Verdict {
	verdicts := map[string]Verdict{}
	for _, c := range cases {
		w := &watcher{name: c.name}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.run(w, open())
		}()
		<-done
		verdicts[c.name] = Verdict{Failed: w.failed, Log: w.log.String()}
	}
	return verdicts
}

// watcher is a tester that remembers. Like testing.T, it ends the goroutine of a
// case that fails or skips.
type watcher struct {
	name   string
	mu     sync.Mutex
	log    strings.Builder
	failed bool
}

func (w *watcher) Helper()      {}
func (w *watcher) Name() string { return w.name }

func (w *watcher) Log(args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintln(&w.log, args...)
}

func (w *watcher) Fail() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = true
}

func (w *watcher) Failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

func (w *watcher) SkipNow()                     { runtime.Goexit() }
func (w *watcher) FailNow()                     { w.Fail(); runtime.Goexit() }
func (w *watcher) Logf(f string, args ...any)   { w.Log(fmt.Sprintf(f, args...)) }
func (w *watcher) Skip(args ...any)             { w.Log(args...); w.SkipNow() }
func (w *watcher) Skipf(f string, args ...any)  { w.Logf(f, args...); w.SkipNow() }
func (w *watcher) Error(args ...any)            { w.Log(args...); w.Fail() }
func (w *watcher) Errorf(f string, args ...any) { w.Logf(f, args...); w.Fail() }
func (w *watcher) Fatal(args ...any)            { w.Log(args...); w.FailNow() }
func (w *watcher) Fatalf(f string, args ...any) { w.Logf(f, args...); w.FailNow() }
