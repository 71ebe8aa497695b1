// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// child is a program started by this package.
type child struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
	err  error         // its exit error
}

// spawn starts a program that writes to a log, and waits for it in the background.
func spawn(cmd *exec.Cmd, log string) (*child, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	c := &child{cmd: cmd, log: log, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // permanently: see diesWithParent
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// signal sends a signal to the program alone.
func (c *child) signal(s syscall.Signal) error { return c.cmd.Process.Signal(s) }

// end sends a signal and waits until the program has ended.
func (c *child) end(s syscall.Signal) error {
	if err := c.signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-c.done
	return nil
}

// ended returns how the program ended, or nil while it runs.
func (c *child) ended() error {
	select {
	case <-c.done:
		return fmt.Errorf("%s ended: %w, its log:\n%s", filepath.Base(c.cmd.Path), c.err, c.tail())
	default:
		return nil
	}
}

// tail returns the end of the log.
func (c *child) tail() string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	const most = 4000
	if len(text) > most {
		text = append([]byte("..."), text[len(text)-most:]...)
	}
	return string(text)
}

// family returns the PIDs of the program and its children.
func (c *child) family() ([]int, error) {
	parent := c.cmd.Process.Pid
	pids := []int{parent}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	if len(stats) == 0 {
		return psFamily(parent)
	}
	for _, path := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return nil, err
		}
		if fields := statOf(pid); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// psFamily is family for systems without /proc.
func psFamily(parent int) ([]int, error) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output() //nolint:noctx // it takes no time
	if err != nil {
		return nil, err
	}
	pids := []int{parent}
	for line := range strings.Lines(string(out)) {
		var pid, ppid int
		if n, _ := fmt.Sscan(line, &pid, &ppid); n == 2 && ppid == parent {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// all sends a signal to the program and each of its children, and returns their PIDs.
func (c *child) all(s syscall.Signal) ([]int, error) {
	pids, err := c.family()
	for _, pid := range pids {
		err = errors.Join(err, kill(pid, s))
	}
	return pids, err
}

// kill sends a signal to a process that may have ended.
func kill(pid int, s syscall.Signal) error {
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %d to %d: %w", s, pid, err)
	}
	return nil
}

// freeze stops the program and waits until it can start no more children.
func (c *child) freeze() error {
	err := c.signal(syscall.SIGSTOP)
	if err == nil {
		await(func() bool { return !goesOn(c.cmd.Process.Pid) })
	}
	return err
}

// pause stops the program and its children, including new ones, and waits until they are stopped.
func (c *child) pause() error {
	if err := c.freeze(); err != nil {
		return err
	}
	pids, err := c.all(syscall.SIGSTOP)
	await(func() bool { return !slices.ContainsFunc(pids, goesOn) })
	return err
}

// goesOn reports whether a process is neither stopped nor ended.
func goesOn(pid int) bool { return !strings.Contains("TtZ?", stateOf(pid)) }

// slay kills the program and all its children, and waits until all have ended.
func (c *child) slay() error {
	if err := c.freeze(); err != nil {
		return err
	}
	pids, err := c.all(syscall.SIGKILL)
	<-c.done
	await(func() bool {
		for _, pid := range pids {
			if !strings.Contains("Z?", stateOf(pid)) {
				return false
			}
		}
		return true
	})
	return err
}

// stateOf returns the system's letter for the state of a process: T is stopped, Z ended but not reaped by its
// parent, ? gone.
func stateOf(pid int) string {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		if syscall.Kill(pid, 0) != nil {
			return "?"
		}
		return "T" // as far as can be determined
	}
	fields := statOf(pid)
	if len(fields) == 0 {
		return "?"
	}
	return fields[0]
}

// statOf returns the fields of /proc/PID/stat from the state on, or none for a process that is gone.
func statOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// pid (name) state parent ...; a name may contain anything.
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// await waits until is returns true, and reports whether it did within a time that suits a busy machine.
func await(is func() bool) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if is() {
			return true
		}
	}
	return false
}

// cpu returns the processor time of the program and its children so far, including children that have ended, or 0 if
// the system does not report it.
func (c *child) cpu() (worked time.Duration) {
	const tick = 10 * time.Millisecond // of /proc, on every Linux
	pids, err := c.family()
	if err != nil {
		return 0
	}
	for i, pid := range pids {
		fields := statOf(pid)
		if len(fields) < 15 {
			continue
		}
		times := fields[11:13] // user and system
		if i == 0 {
			times = fields[11:15] // the same of children that have ended
		}
		for _, field := range times {
			n, _ := strconv.ParseInt(field, 10, 64)
			worked += time.Duration(n) * tick
		}
	}
	return worked
}
