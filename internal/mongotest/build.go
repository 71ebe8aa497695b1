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

// errOffline means that the modules of the stand-in are not cached and cannot be downloaded.
var errOffline = errors.New("its modules cannot be downloaded")

// build builds the program of the stand-in unless it is cached, and returns its path. Of several concurrent
// processes only one builds it.
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

// sourceDir returns the directory of the stand-in's module, which is nested in this one: tests run in the directory
// of their package.
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

// programPath returns the path in the cache, which depends on the source, the system and the Go version.
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

// compile builds the program under a temporary name and renames it, so that no process sees a partial file.
func compile(source, path string) error {
	half := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.Remove(half)
	cmd := exec.Command("go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", half, ".") //nolint:noctx // go test has a timeout
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

// environment returns the caller's environment without settings meant only for the test build. With fewer collections
// of garbage the compiler takes a third less.
func environment() []string {
	return append(os.Environ(), "GOFLAGS=", "GOGC=400", "GOWORK=off", "GOEXPERIMENT=", "GOOS="+runtime.GOOS,
		"GOARCH="+runtime.GOARCH, "CGO_ENABLED=0")
}

// offline reports whether the go command failed because there is no network.
func offline(output string) bool {
	return slices.ContainsFunc([]string{
		"dial tcp", "no such host", "GOPROXY=off", "GOPROXY list is", "i/o timeout", "connection refused",
		"network is unreachable", "proxyconnect",
	}, func(sign string) bool { return strings.Contains(output, sign) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
