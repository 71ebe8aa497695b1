// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// findRedis returns the program and its version. Without it the comparison is skipped; under CI=1 that fails.
func findRedis(tb testing.TB) (program, version string) {
	tb.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "1" {
			tb.Fatalf("CI must not skip: %v", err)
		}
		return "", "Redis was not measured: no redis-server: install Debian's redis-server"
	}
	out, err := exec.CommandContext(tb.Context(), program, "--version").Output()
	if err != nil {
		tb.Fatal(err)
	}
	for field := range strings.FieldsSeq(string(out)) {
		if v, ok := strings.CutPrefix(field, "v="); ok {
			version = "Redis " + v
		}
	}
	return program, version
}

// redis is a server with a hash per metric and day.
type redis struct {
	names   []string
	process *process
	conns   []*resp
}

// openRedis starts a server with a sync policy. Hashes of at most list fields are stored as lists.
func openRedis(policy string, list int) func(context.Context, *bench, setting) (target, error) {
	return func(_ context.Context, b *bench, s setting) (target, error) {
		dir := b.tb.TempDir()
		socket := filepath.Join(dir, "s")
		if len(socket) > 100 {
			return nil, fmt.Errorf("the path of a socket is too long: %s", socket)
		}
		r := &redis{names: names(s.metrics)}
		var err error
		r.process, err = b.start(func() error {
			c, err := dial(socket)
			if err != nil {
				return err
			}
			defer c.Close()
			return c.do(1, func() { c.command("PING") }, nil)
		}, b.redis, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", policy,
			"--auto-aof-rewrite-percentage", "0", "--hash-max-listpack-entries", strconv.Itoa(list), "--maxclients", "1000")
		for len(r.conns) < s.callers && err == nil {
			var c *resp
			if c, err = dial(socket); err == nil {
				r.conns = append(r.conns, c)
			}
		}
		return r, err
	}
}

// add is one pipeline of three increments per hit. The server syncs before it replies.
func (r *redis) add(_ context.Context, caller int, c call) error {
	key := c.at.Format("/2006-01-02")
	hour, minute := c.at.Format("h15"), fmt.Sprintf("m%04d", c.at.Hour()*60+c.at.Minute())
	conn := r.conns[caller]
	return conn.do(3*len(c.metrics), func() {
		for _, m := range c.metrics {
			k := r.names[m] + key
			conn.command("HINCRBY", k, "day", "1")
			conn.command("HINCRBY", k, hour, "1")
			conn.command("HINCRBY", k, minute, "1")
		}
	}, nil)
}

func (r *redis) sums(context.Context) ([]int64, error) {
	c := r.conns[0]
	var keys []string
	if err := c.do(1, func() { c.command("KEYS", "*") }, func(s string) { keys = append(keys, s) }); err != nil {
		return nil, err
	}
	got := newSums(r.names)
	for _, key := range keys {
		var fields []string
		if err := c.do(1, func() { c.command("HGETALL", key) }, func(s string) { fields = append(fields, s) }); err != nil {
			return nil, err
		}
		levels := map[byte]int64{}
		for i := 0; i+1 < len(fields); i += 2 {
			n, err := strconv.ParseInt(fields[i+1], 10, 64)
			if err != nil {
				return nil, err
			}
			levels[fields[i][0]] += n
		}
		slash := strings.LastIndexByte(key, '/')
		if err := got.add(key[slash+1:]+"/"+key[:slash], levels['d'], levels['h'], levels['m']); err != nil {
			return nil, err
		}
	}
	return got.all, nil
}

func (r *redis) close() (err error) {
	for _, c := range r.conns {
		err = errors.Join(err, c.Close())
	}
	r.process.stop()
	return err
}

// resp is a connection that implements the required part of Redis' protocol.
type resp struct {
	net.Conn
	r *bufio.Reader
	w *bufio.Writer
}

func dial(socket string) (*resp, error) {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return nil, err
	}
	return &resp{conn, bufio.NewReaderSize(conn, 64<<10), bufio.NewWriterSize(conn, 64<<10)}, nil
}

// do sends commands and reads the given number of replies. each gets the elements of arrays.
func (c *resp) do(answers int, commands func(), each func(string)) error {
	commands()
	if err := c.w.Flush(); err != nil {
		return err
	}
	for range answers {
		if err := c.answer(each); err != nil {
			return err
		}
	}
	return nil
}

// command writes a command.
func (c *resp) command(args ...string) {
	number := func(kind byte, n int) {
		_ = c.w.WriteByte(kind)
		_, _ = c.w.Write(strconv.AppendInt(c.w.AvailableBuffer(), int64(n), 10))
		_, _ = c.w.WriteString("\r\n")
	}
	number('*', len(args))
	for _, arg := range args {
		number('$', len(arg))
		_, _ = c.w.WriteString(arg)
		_, _ = c.w.WriteString("\r\n")
	}
}

// answer reads one reply: a number, a text, or an array of texts.
func (c *resp) answer(each func(string)) error {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return err
	}
	kind, rest := line[0], strings.TrimSuffix(string(line[1:]), "\r\n")
	switch kind {
	case '+', ':':
		return nil
	case '$':
		n, err := strconv.Atoi(rest)
		text := make([]byte, n+2)
		if err == nil {
			_, err = io.ReadFull(c.r, text)
		}
		if err == nil && each != nil {
			each(string(text[:n]))
		}
		return err
	case '*':
		n, err := strconv.Atoi(rest)
		for ; n > 0 && err == nil; n-- {
			err = c.answer(each)
		}
		return err
	}
	return fmt.Errorf("redis: %s", rest)
}
