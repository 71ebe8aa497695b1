// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server that was started here.
type process struct {
	cmd    *exec.Cmd
	log    bytes.Buffer
	exited chan struct{}
}

// start starts a server, which ends at the latest with the test, and waits until ready has no error.
func (b *bench) start(ready func() error, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(context.WithoutCancel(b.tb.Context()), program, args...), exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), asLocus+"=1")
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal from the terminal is for the program
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait()
	}()
	b.tb.Cleanup(p.stop)
	b.started = append(b.started, p)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); ; {
		err := ready()
		if err == nil {
			return p, nil
		}
		select {
		case <-p.exited:
			return nil, fmt.Errorf("%s ended: %w\n%s", filepath.Base(program), err, &p.log)
		case <-tick.C:
		}
		if time.Now().After(deadline) {
			p.stop()
			return nil, fmt.Errorf("no answer from %s: %w\n%s", filepath.Base(program), err, &p.log)
		}
	}
}

// stop ends the server.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

// cpu is what the server has had of the processors, 0 where the system does not tell. What its threads and those
// of its children that have ended had is in it.
func (p *process) cpu() (worked time.Duration) {
	if state := p.cmd.ProcessState; state != nil {
		return state.UserTime() + state.SystemTime()
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// pid (name) state parent ...; a name may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	for _, field := range fields[11:15] {
		n, _ := strconv.ParseInt(field, 10, 64)
		worked += time.Duration(n) * 10 * time.Millisecond
	}
	return worked
}

// used is what was had of the processors.
type used struct {
	began                    time.Time
	server, program, machine time.Duration // 0 where the system does not tell
}

// used is what has been had so far.
func (b *bench) used() used {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	servers := b.server.CPU()
	for _, p := range b.started {
		select {
		case <-p.exited:
		default:
			servers += p.cpu()
		}
	}
	return used{time.Now(), servers, time.Duration(u.Utime.Nano() + u.Stime.Nano()), machineTime()}
}

// since is what was had since another reading, by n hits: in microseconds by the servers and by the program,
// and how many processors others had.
func (u used) since(before used, n int) (server, program, others float64) {
	each := func(d time.Duration) float64 { return max(float64(d)/float64(time.Microsecond)/float64(max(n, 1)), 0) }
	s, p := u.server-before.server, u.program-before.program
	others = (u.machine - before.machine - s - p).Seconds() / u.began.Sub(before.began).Seconds()
	return each(s), each(p), max(others, 0)
}

// machineTime is what everybody has had of them, 0 where the system does not tell.
func machineTime() (busy time.Duration) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan()
	// cpu user nice system idle iowait irq softirq steal, in hundredths of a second
	for i, field := range strings.Fields(lines.Text()) {
		n, err := strconv.ParseInt(field, 10, 64)
		if err == nil && i != 4 && i != 5 && i <= 8 {
			busy += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return busy
}
