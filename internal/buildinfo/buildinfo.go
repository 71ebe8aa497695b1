// SPDX-License-Identifier: Apache-2.0

// Package buildinfo reports from which version a binary was built. The go command stamps it: go build in a checkout
// records the tag or the commit, go install of a version records that version, and go run records neither.
package buildinfo

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Devel is the version of a binary that has no version information, such as one of go run.
const Devel = "devel"

// Info describes the source and the build of a binary.
type Info struct {
	// Version is the tag; after a tag, a pseudo-version with time and commit. It ends in +dirty if files differed from
	// the commit.
	Version string `json:"version"`
	// Commit is the hash of the commit, "" if unknown.
	Commit string `json:"commit,omitempty"`
	// Time is when the commit was made, as RFC 3339; "" if unknown.
	Time string `json:"time,omitempty"`
	// Go is the version of Go that compiled it; OS and Arch are its target.
	Go   string `json:"go"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

// Read returns what the running binary was built from.
func Read() Info {
	build, _ := debug.ReadBuildInfo()
	return of(build)
}

func of(build *debug.BuildInfo) Info {
	info := Info{Version: Devel, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if build == nil {
		return info
	}
	if v := build.Main.Version; v != "" && v != "(devel)" {
		info.Version = strings.TrimPrefix(v, "v")
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Commit = s.Value
		case "vcs.time":
			info.Time = s.Value
		}
	}
	return info
}
