// SPDX-License-Identifier: Apache-2.0

package listen_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/locus-db/locus/internal/listen"
)

func TestP10_SocketIsTheOwners(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the rights of a socket do not protect it there")
	}
	dir, err := os.MkdirTemp("", "s") // names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, listen.SocketName)
	left, err := net.Listen("unix", path) // left by a process that was killed
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	left.Close()
	l, err := listen.Socket(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("%v, %v", info, err)
	}
	go func() {
		if conn, err := l.Accept(); err == nil {
			conn.Close()
		}
	}()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	_ = l.Close() // the server closes its listeners twice
	left2, err := os.ReadDir(dir)
	if err != nil || len(left2) != 0 {
		t.Errorf("%v is left, %v", left2, err)
	}
	if _, err := listen.Socket(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
