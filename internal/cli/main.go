// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// Main runs the command line in this process and answers with the exit code. The first SIGINT or
// SIGTERM asks the command to end, a second one ends it at once. SIGHUP is ignored: a server has
// nothing to read again, and a terminal that closes must not kill it.
func Main(args []string) int {
	// A closed pipe is an error of a write, so that commands can close what they opened.
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitInterrupted)
	}()
	return Run(ctx, args, os.Stdin, os.Stdout, os.Stderr, environment(os.Environ()))
}

func environment(list []string) map[string]string {
	env := make(map[string]string, len(list))
	for _, entry := range list {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return env
}

// Run runs one command line and answers with its exit code. The end of ctx is what a signal is: a
// server drains, an import says how to go on.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env map[string]string) int {
	a := &app{
		stdin: stdin, stdout: stdout, stderr: stderr, env: env,
		out: style(stdout, env), talk: style(stderr, env),
	}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	// A command line that could not be parsed may still have asked for JSON.
	a.json = a.json || slices.Contains(args, "--json")
	return a.exit(ctx, err)
}

// isTerminal tells whether a stream is a person's.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
