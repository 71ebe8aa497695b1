// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/locus-db/locus/internal/bulk"
)

// take checks the files and copies the streams among them. gone removes the copies.
func (o *oneShot) take(ctx context.Context, a *app, files []string) (gone func() error, err error) {
	o.files, o.unstored = files, true
	if err := o.check(files); err != nil {
		return nil, err
	}
	return o.copyStreams(ctx, a)
}

// copyStreams copies standard input and other inputs that can be read only once, such as the shell's <(command), to
// files that only their owner can read, because each file is read several times.
func (o *oneShot) copyStreams(ctx context.Context, a *app) (gone func() error, err error) {
	dir := ""
	gone = func() error { return nil }
	for i, name := range o.files {
		info, err := os.Stat(name)
		if name != bulk.Stdin && (err != nil || info.Mode().IsRegular() || info.IsDir()) {
			o.found = append(o.found, info)
			continue
		}
		o.found = append(o.found, nil)
		if dir == "" {
			if dir, err = os.MkdirTemp("", "locus-"); err != nil {
				return nil, fmt.Errorf("copy a stream: %w", err)
			}
			gone = func() error { return os.RemoveAll(dir) }
			o.options.Copies = map[string]string{}
		}
		to := filepath.Join(dir, fmt.Sprint(i))
		if err := copyStream(ctx, a.stdin, name, to); err != nil {
			return nil, errors.Join(err, gone())
		}
		o.options.Copies[name] = to
	}
	return gone, nil
}

// copyStream copies a stream, which is closed when the context ends: its writer may wait for ever.
func copyStream(ctx context.Context, stdin io.Reader, name, to string) error {
	from := io.NopCloser(stdin)
	if name != bulk.Stdin {
		file, err := os.Open(name)
		if err != nil {
			return &bulk.FileError{Name: name, Reason: "cannot be opened", Err: err}
		}
		from = file
	}
	defer from.Close()
	into, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("copy a stream: %w", err)
	}
	defer into.Close()
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(into, from)
		copied <- err
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err = <-copied:
	}
	if err = errors.Join(err, into.Close()); err != nil {
		return &bulk.FileError{Name: name, Reason: "cannot be copied to a temporary file",
			Hint: "write it to a file first", Err: err}
	}
	return nil
}
