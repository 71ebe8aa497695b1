// SPDX-License-Identifier: Apache-2.0

package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// SocketName is the name of the socket in a data directory.
const SocketName = "locus.sock"

// Socket listens on a socket in a data directory, which only the account that owns it may use. It replaces one that a
// process left behind; the caller holds the lock of the directory. Closing it removes the socket.
func Socket(dir string) (net.Listener, error) {
	// Made where no other account can enter, the socket never has wider rights than it should.
	private, err := os.MkdirTemp(dir, ".socket-")
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	defer os.RemoveAll(private)
	made, path := filepath.Join(private, SocketName), filepath.Join(dir, SocketName)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	l.SetUnlinkOnClose(false) // the socket moves
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
		return nil, errors.Join(fmt.Errorf("socket: %w", err), l.Close())
	}
	return &socket{Listener: l, remove: sync.OnceValue(func() error {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})}, nil
}

type socket struct {
	net.Listener
	remove func() error
}

// Close stops listening and removes the socket.
func (s *socket) Close() error { return errors.Join(s.remove(), s.Listener.Close()) }
