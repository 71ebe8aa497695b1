// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// standIn is the program that emulates MongoDB, with the proxy that compensates for its defects.
type standIn struct {
	cmd   *exec.Cmd
	stdin io.Closer // closing it ends the program; so does the end of this process
	log   tail
	proxy *Proxy
}

// startStandIn starts the program and waits until it reports its address.
func startStandIn() (*standIn, error) {
	program, err := build()
	if err != nil {
		return nil, fmt.Errorf("build the stand-in for MongoDB: %w", err)
	}
	s := &standIn{cmd: exec.Command(program)} //nolint:noctx // it ends when its standard input is closed
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	uri := strings.TrimSpace(line)
	var server target
	if err == nil {
		server, err = targetOf(context.Background(), uri)
	}
	if err == nil {
		s.proxy, err = startProxy(server, uri, newTurns())
	}
	if err != nil {
		return nil, fmt.Errorf("start the stand-in for MongoDB: %w", errors.Join(err, s.close()))
	}
	return s, nil
}

// close ends the program and waits for it.
func (s *standIn) close() error {
	if s.proxy != nil {
		s.proxy.close()
	}
	_ = s.stdin.Close()
	late := time.AfterFunc(30*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("%w, its log:\n%s", err, s.log.String())
	}
	return nil
}

// tail keeps the end of the output written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	const kept = 8000
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if len(t.text) > 2*kept {
		t.text = append(t.text[:0], t.text[len(t.text)-kept:]...)
	}
	return len(b), nil
}

// String returns the text kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
