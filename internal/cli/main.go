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

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Main runs the command line in this process and returns the exit code. The first SIGINT or SIGTERM asks the command to
// stop, a second one kills it. SIGHUP is ignored: only a server reads its configuration again, and closing a terminal
// must not kill it.
func Main(args []string) int {
	// A closed pipe becomes a write error, so that commands can close their files.
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

// Commands returns the tree of all commands, from which man pages and completions are made.
func Commands() *cobra.Command {
	return (&app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard}).root()
}

// Run runs one command line and returns its exit code. The end of ctx has the effect of a signal: a server drains, an
// import explains how to continue.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env map[string]string) int {
	a := &app{
		stdin: stdin, stdout: stdout, stderr: &serial{to: stderr}, env: env,
		out: style(stdout, env), talk: style(stderr, env),
	}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	// A command line that cannot be parsed may still ask for JSON.
	a.json = a.json || slices.Contains(args, "--json")
	return a.exit(ctx, err)
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
