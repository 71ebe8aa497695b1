// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Program is a program that reads a question as a line of JSON from its standard input, and writes the answer as a line
// of JSON to its standard output. It answers one question at a time.
type Program struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	lines   chan []byte // closed at the end of the output
	wait    time.Duration
}

// closing is how long a program may take to exit after its input is closed.
const closing = 5 * time.Second

// Start starts a program. wait limits the time for an answer. The program's standard error is copied to stderr.
func Start(ctx context.Context, program string, args []string, wait time.Duration, stderr io.Writer) (*Program, error) {
	p := &Program{command: exec.CommandContext(ctx, program, args...), lines: make(chan []byte), wait: wait}
	p.command.Stderr = stderr
	p.command.WaitDelay = closing
	var err error
	if p.stdin, err = p.command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("judge: start %s: %w", program, err)
	}
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("judge: start %s: %w", program, err)
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("judge: start %s: %w", program, err)
	}
	go func() {
		defer close(p.lines)
		in := bufio.NewScanner(stdout)
		in.Buffer(nil, maxAnswer)
		for in.Scan() {
			select {
			case p.lines <- append([]byte(nil), in.Bytes()...):
			case <-ctx.Done():
				return
			}
		}
	}()
	return p, nil
}

// Ask implements Judge. A program that does not answer in time is not asked again.
func (p *Program) Ask(ctx context.Context, q Question) (Answer, error) {
	line, err := json.Marshal(q)
	if err != nil {
		return Answer{}, fmt.Errorf("judge: write a question: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	written := make(chan error, 1)
	go func() {
		_, err := p.stdin.Write(append(line, '\n'))
		written <- err
	}()
	select {
	case err := <-written:
		if err != nil {
			return Answer{}, fmt.Errorf("judge: the program takes no question: %w", err)
		}
	case <-ctx.Done():
		return Answer{}, fmt.Errorf("judge: the program takes no question: %w", ctx.Err())
	}
	select {
	case text, more := <-p.lines:
		if !more {
			return Answer{}, fmt.Errorf("judge: the program ended, or wrote a line above %d bytes", maxAnswer)
		}
		a, err := parse(text)
		if err == nil && a.ID != q.ID {
			return a, fmt.Errorf("judge: the program answered question %d, not %d", a.ID, q.ID)
		}
		return a, err
	case <-ctx.Done():
		return Answer{}, fmt.Errorf("judge: no answer from the program: %w", ctx.Err())
	}
}

// Close implements Judge: it closes the input of the program and waits for its end. A program that does not end is
// killed.
func (p *Program) Close() error {
	err := p.stdin.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	kill := time.AfterFunc(closing, func() { _ = p.command.Process.Kill() })
	defer kill.Stop()
	for range p.lines { // unread lines would keep the program from ending
	}
	if wait := p.command.Wait(); wait != nil {
		err = errors.Join(err, fmt.Errorf("judge: the program ended: %w", wait))
	}
	return err
}
