// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestScripts runs every *.txtar: commands, one a line, then the files that they find in their
// folder, in the notation of Go's testscript.
//
//	exec locus ARGUMENTS...        has to end with 0
//	exits CODE locus ARGUMENTS...  has to end with CODE
//	stdin FILE                     is what the next command reads
//	stdout [-count=N] PATTERN      the last command wrote it, N times; ! before it: did not
//	stderr PATTERN                 the same of the other stream
//	cmp FILE FILE                  are equal; stdout is a file
//	exists FILE                    is there; ! before it: is not
//	env NAME=VALUE                 for the commands that follow
func TestScripts(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(name, ".txtar"), func(t *testing.T) {
			t.Parallel()
			newScript(t, name).run()
		})
	}
}

// script is one file while it runs.
type script struct {
	t              *testing.T
	name, dir      string
	lines          []string
	env            []string
	stdin          []byte
	stdout, stderr string
}

func newScript(t *testing.T, name string) *script {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, name: name, dir: t.TempDir()}
	var file string
	files := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if inner, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- "); ok && strings.HasSuffix(inner, " --") {
			file = strings.TrimSuffix(inner, " --")
			files[file] = ""
			continue
		}
		if file == "" {
			s.lines = append(s.lines, strings.TrimSpace(line))
		} else {
			files[file] += line
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *script) run() {
	for i, line := range s.lines {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := split(line)
		not := words[0] == "!"
		if not {
			words = words[1:]
		}
		if why := s.step(not, words[0], words[1:]); why != "" {
			s.t.Fatalf("%s:%d: %s\n%s\n\nstdout:\n%s\nstderr:\n%s", s.name, i+1, line, why, s.stdout[:min(len(s.stdout), 4000)], s.stderr)
		}
	}
}

// split takes a line apart at blanks outside of single quotes; two quotes inside stand for one.
func split(line string) []string {
	var words []string
	var word strings.Builder
	quoted, open := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'' && quoted && i+1 < len(line) && line[i+1] == '\'':
			word.WriteByte(c)
			i++
		case c == '\'':
			quoted, open = !quoted, true
		case c == ' ' && !quoted:
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words
}

// step runs one line and says what is wrong.
func (s *script) step(not bool, verb string, args []string) string {
	switch verb {
	case "exec":
		return s.command(0, args[1:])
	case "exits":
		code, err := strconv.Atoi(args[0])
		if err != nil {
			return err.Error()
		}
		return s.command(code, args[2:])
	case "stdin":
		s.stdin = s.file(args[0])
	case "env":
		s.env = append(s.env, args[0])
	case "stdout":
		return matches(not, s.stdout, args)
	case "stderr":
		return matches(not, s.stderr, args)
	case "cmp":
		return cmp.Diff(string(s.file(args[1])), string(s.file(args[0])))
	case "exists":
		if _, err := os.Stat(filepath.Join(s.dir, args[0])); (err == nil) == not {
			return "it is the other way"
		}
	default:
		return "no such command"
	}
	return ""
}

func matches(not bool, text string, args []string) string {
	want := -1
	if n, ok := strings.CutPrefix(args[0], "-count="); ok {
		var err error
		if want, err = strconv.Atoi(n); err != nil {
			return err.Error()
		}
		args = args[1:]
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	if err != nil {
		return err.Error()
	}
	found := len(pattern.FindAllString(text, -1))
	switch {
	case want >= 0 && found != want:
		return "it is there " + strconv.Itoa(found) + " times"
	case (found > 0) == not:
		return "it is the other way"
	}
	return ""
}

func (s *script) file(name string) []byte {
	switch name {
	case "stdout":
		return []byte(s.stdout)
	case "stderr":
		return []byte(s.stderr)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

func (s *script) command(code int, args []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	c := command(ctx, s.t, s.dir, args...)
	c.Env = append(c.Env, s.env...)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(s.stdin), &stdout, &stderr
	s.stdin = nil
	err := c.Run()
	s.stdout, s.stderr = stdout.String(), stderr.String()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return err.Error()
	}
	if got := c.ProcessState.ExitCode(); got != code {
		return "exit code " + strconv.Itoa(got) + ", want " + strconv.Itoa(code)
	}
	return ""
}

// command is the real thing in a folder, without the variables of whoever runs the tests.
func command(ctx context.Context, t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(ctx, built(t), args...)
	c.Dir, c.Env = dir, clean()
	return c
}
