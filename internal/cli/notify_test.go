// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
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
		manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: strings.Replace(path, "@", "\x00", 1), Net: "unixgram"})
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
		s := launchWith(t, map[string]string{"NOTIFY_SOCKET": path}, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--addr", "127.0.0.1:0", "--cells", "1")
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

// TestServe_SettingsOfTheService checks that each variable of deploy/systemd/locus.env is one of a flag, or of what a server uses.
func TestServe_SettingsOfTheService(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/systemd/locus.env")
	if err != nil {
		t.Fatal(err)
	}
	help := run(t.Context(), nil, "serve", "--help").stdout
	names := regexp.MustCompile(`(?m)^#?([A-Z_]+)=`).FindAllSubmatch(text, -1)
	if len(names) < 5 {
		t.Fatalf("%d settings", len(names))
	}
	for _, m := range names {
		name := string(m[1])
		flag := "--" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "LOCUS_"), "_", "-"))
		if !regexp.MustCompile(flag+`\b`).MatchString(help) && !slices.Contains([]string{"PGPASSFILE", "LOCUS_LOG", "LOCUS_LOG_FORMAT"}, name) {
			t.Errorf("%s: locus serve has no %s", name, flag)
		}
	}
}
