// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// errOffline means that the modules of the stand-in are not on this machine, and cannot be fetched.
var errOffline = errors.New("its modules cannot be downloaded")

// build makes the program of the stand-in, unless this machine has it, and answers with its path. Of many
// processes that want it at once, one makes it.
func build() (string, error) {
	source, err := sourceDir()
	if err != nil {
		return "", err
	}
	path, err := programPath(source)
	if err != nil || exists(path) {
		return path, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a cache, as Go's own
		return "", err
	}
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := lock(f); err != nil {
		return "", fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if exists(path) {
		return path, nil
	}
	fmt.Fprintf(os.Stderr, "mongotest: building the stand-in for MongoDB, once for this machine: a minute or two\n")
	return path, compile(source, path)
}

// sourceDir is the directory of the stand-in's module, which lies within this one: tests run in the
// directory of their package.
func sourceDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		source := filepath.Join(dir, "internal", "mongotest", "standin")
		if exists(filepath.Join(source, "go.mod")) {
			return source, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("internal/mongotest/standin is in no directory above this one")
		}
		dir = parent
	}
}

// programPath is where the program is kept: another source, another system or another Go makes another one.
func programPath(source string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, name, len(text))
		sum.Write(text)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	name := fmt.Sprintf("standin-%.16x", sum.Sum(nil)[:8])
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(cache, "locus", name), nil
}

// compile builds the program beside its place and moves it there, so that nobody meets half of it.
func compile(source, path string) error {
	half := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.Remove(half)
	cmd := exec.Command("go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-o", half, ".") //nolint:noctx // go test has a timeout
	cmd.Dir, cmd.Env = source, environment()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if offline(out.String()) {
			return fmt.Errorf("%w:\n%s", errOffline, out.String())
		}
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	return os.Rename(half, path)
}

// environment is the caller's, with what is meant for the build of the tests alone taken back.
func environment() []string {
	return append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "CGO_ENABLED=0")
}

// offline tells whether the go command failed for want of a network.
func offline(output string) bool {
	return slices.ContainsFunc([]string{
		"dial tcp", "no such host", "GOPROXY=off", "GOPROXY list is", "i/o timeout", "connection refused", "network is unreachable", "proxyconnect",
	}, func(sign string) bool { return strings.Contains(output, sign) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
