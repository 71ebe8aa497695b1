// SPDX-License-Identifier: Apache-2.0

// Command standin speaks MongoDB's protocol for tests, where there is no MongoDB: FerretDB over SQLite, on a
// free port of this machine. Its URI is the first line that it prints. It ends, and its files go, when its
// standard input does: so it never outlives the process that started it.
//
//	standin [DIRECTORY]
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// grace is how long connections may take to end.
const grace = 2 * time.Second

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	if len(args) > 1 {
		return errors.New("usage: standin [DIRECTORY]")
	}
	dir := ""
	if len(args) == 1 {
		dir = args[0]
	} else {
		if dir, err = os.MkdirTemp("", "locus-standin-"); err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, os.RemoveAll(dir)) }()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	server, err := ferretdb.New(&ferretdb.Config{
		Listener: ferretdb.ListenerConfig{TCP: "127.0.0.1:0"},
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Handler:  "sqlite",
		// Throwaway data: nothing is synced to the disk.
		SQLiteURL: "file:" + filepath.ToSlash(dir) + "/?_pragma=synchronous(off)",
	})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	fmt.Println(server.MongoDBURI())
	<-ctx.Done()
	select {
	case err = <-ended:
		return err
	case <-time.After(grace):
		return nil
	}
}
