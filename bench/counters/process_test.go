// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
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

	"github.com/locus-db/locus/bench/internal/processor"
)

// process is a server started by the test.
type process struct {
	cmd    *exec.Cmd
	log    bytes.Buffer
	exited chan struct{}
}

// start starts a server, which ends at the latest with the test, and waits until ready returns nil.
func (b *bench) start(ready func() error, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(context.WithoutCancel(b.tb.Context()), program, args...),
		exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), asLocus+"=1")
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // signals from the terminal are for the program only
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

// stop stops the server.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

// cpu returns the processor time of the running server, including its threads and ended children, or 0 where the
// system does not report it.
func (p *process) cpu() (worked time.Duration) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// pid (name) state parent ...; a name may contain anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	for _, field := range fields[11:15] {
		n, _ := strconv.ParseInt(field, 10, 64)
		worked += time.Duration(n) * 10 * time.Millisecond
	}
	return worked
}

// used returns the processor time so far.
func (b *bench) used() processor.Used {
	servers := b.server.CPU()
	for _, p := range b.started {
		select {
		case <-p.exited:
		default:
			servers += p.cpu()
		}
	}
	return processor.Read(servers)
}
