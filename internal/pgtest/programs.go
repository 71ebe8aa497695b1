// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// find returns the path of a PostgreSQL program.
func find(program string) (string, error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Compare(major(b), major(a)) })
	if dir := os.Getenv("LOCUS_PG_BIN"); dir != "" {
		dirs = []string{dir}
	}
	for _, dir := range dirs {
		if path := filepath.Join(dir, program); isProgram(path) {
			return path, nil
		}
	}
	path, err := exec.LookPath(program)
	if err != nil && isProgram("/usr/sbin/"+program) {
		return "/usr/sbin/" + program, nil
	}
	if err != nil {
		return "", fmt.Errorf("no %s in LOCUS_PG_BIN, /usr/lib/postgresql or PATH: install Debian's postgresql and pgbouncer",
			program)
	}
	return path, nil
}

// major returns the version in the path of a directory of programs.
func major(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	return n
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// need is find for a test. Under -short the test is skipped; without the program it is skipped, or fails under
// CI=1.
func need(t testing.TB, program string) string {
	t.Helper()
	longtest.Needs(t, "PostgreSQL")
	path, err := find(program)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "1" {
		t.Fatalf("CI must not skip: %v", err)
	}
	t.Skip(err)
	return ""
}

// account returns the user that runs the servers: nil for the caller, or another user if the caller is root.
func account() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u = &user.User{Uid: "65534", Gid: "65534"} // the user nobody
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("user postgres has the ids %s and %s", u.Uid, u.Gid)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// directory creates a directory owned by the user that runs the servers, with a path short enough for a socket in
// it and no parent that this user cannot traverse. It is in memory if inMemory is set and there is room.
func directory(inMemory bool, room uint64) (string, error) {
	parent := os.TempDir()
	if len(parent) > 60 || os.Getuid() == 0 || parent == longtest.Memory {
		parent = "/tmp"
	}
	if inMemory && longtest.MemoryHas(room) {
		parent = longtest.Memory
	}
	dir, err := os.MkdirTemp(parent, "locus-pg-")
	if err != nil {
		return "", err
	}
	return dir, own(dir)
}

// own gives a file to the user that runs the servers.
func own(path string) error {
	who, err := account()
	if who == nil || err != nil {
		return err
	}
	return os.Chown(path, int(who.Uid), int(who.Gid))
}

// command returns a command that runs as that user, in a process group of its own, so that signals from the
// terminal do not reach it.
func command(path string, args ...string) (*exec.Cmd, error) {
	who, err := account()
	cmd := exec.Command(path, args...) //nolint:noctx // it ends when its server is stopped
	cmd.Dir = "/"
	cmd.Env = environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true}
	diesWithParent(cmd.SysProcAttr)
	return cmd, err
}

// environment returns the caller's environment without variables that would redirect a server or a client.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "LC_") || strings.HasPrefix(v, "LANG")
	})
}

// run runs a program to completion.
func run(path string, args ...string) error {
	cmd, err := command(path, args...)
	if err != nil {
		return err
	}
	// The thread is kept until the program has ended. Otherwise spawn could take it over and end it with its server,
	// and the program would end with it, see diesWithParent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(path), err, out)
	}
	return nil
}
