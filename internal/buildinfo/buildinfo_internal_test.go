// SPDX-License-Identifier: Apache-2.0

package buildinfo

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	settings := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "4f0c"},
		{Key: "vcs.time", Value: "2026-11-28T06:00:00Z"}}
	for _, c := range []struct {
		build *debug.BuildInfo
		want  Info
	}{
		{nil, Info{Version: Devel}},
		{&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, Info{Version: Devel}},
		{&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, Info{Version: "0.1.0"}},
		{
			&debug.BuildInfo{Main: debug.Module{Version: "v0.1.1-0.20261128060000-4f0c+dirty"}, Settings: settings},
			Info{Version: "0.1.1-0.20261128060000-4f0c+dirty", Commit: "4f0c", Time: "2026-11-28T06:00:00Z"},
		},
	} {
		c.want.Go, c.want.OS, c.want.Arch = runtime.Version(), runtime.GOOS, runtime.GOARCH
		if got := of(c.build); got != c.want {
			t.Errorf("%+v: got %+v, want %+v", c.build, got, c.want)
		}
	}
}
