// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestServe_TellsTheServiceManager starts a server as systemd does with Type=notify.
func TestServe_TellsTheServiceManager(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("systemd is of Linux")
	}
	dir, err := os.MkdirTemp("", "n") // names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, path := range []string{filepath.Join(dir, "s"), "@" + filepath.Base(dir)} {
		manager, err := net.ListenUnixgram("unixgram",
			&net.UnixAddr{Name: strings.Replace(path, "@", "\x00", 1), Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		states := make(chan string, 10)
		go func() {
			defer close(states)
			for buf := make([]byte, 256); ; {
				n, err := manager.Read(buf)
				if err != nil {
					return
				}
				states <- string(buf[:n])
			}
		}()
		s := launchWith(t, map[string]string{"NOTIFY_SOCKET": path}, "serve", "--data", filepath.Join(t.TempDir(), "data"),
			"--addr", "127.0.0.1:0", "--cells", "1")
		if state := <-states; state != "READY=1" {
			t.Errorf("%s: %q", path, state)
		}
		s.stop()
		if state := <-states; !strings.HasPrefix(state, "STOPPING=1\nSTATUS=") {
			t.Errorf("%s: %q", path, state)
		}
		manager.Close()
		for range states { //nolint:revive // until its reader has ended
		}
	}
}
