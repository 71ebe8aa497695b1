// SPDX-License-Identifier: Apache-2.0

package release_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the formats
	_ "github.com/goreleaser/nfpm/v2/rpm"
	"gopkg.in/yaml.v3"
)

const top = "../.."

// sh runs a program in a directory.
func sh(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "SOURCE_DATE_EPOCH=1700000000")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// packaged builds a package in a copy of what it is made of.
func packaged(t *testing.T, dir, format string) string {
	t.Helper()
	config, err := nfpm.ParseFileWithEnvMapping(filepath.Join(dir, "deploy/package/nfpm.yaml"), func(name string) string {
		return map[string]string{"GOARCH": runtime.GOARCH, "VERSION": "0.1.0"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	info, err := config.Get(format)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range info.Contents {
		c.Source = filepath.Join(dir, c.Source)
	}
	for _, script := range []*string{&info.Scripts.PostInstall, &info.Scripts.PreRemove, &info.Scripts.PostRemove} {
		*script = filepath.Join(dir, *script)
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		t.Fatal(err)
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := packager.Package(info, &b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "locus."+format)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The deb has the binary, the unit, the settings, man pages and completions, and dpkg accepts it. The rpm is made of
// the same.
func TestPackage_Deb(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"deploy", "LICENSE", "NOTICE"} {
		at, err := filepath.Abs(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	sh(t, top, "go", "build", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", filepath.Join(dir, "bin/locus"),
		"./cmd/locus")
	sh(t, ".", "go", "run", "./pages", filepath.Join(dir, "bin/package"))
	if packaged(t, dir, "rpm") == "" {
		t.Error("no rpm")
	}
	deb := packaged(t, dir, "deb")
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("there is no dpkg-deb")
	}
	list := sh(t, ".", "dpkg-deb", "--contents", deb)
	for _, want := range []string{
		"-rwxr-xr-x root/root", "./usr/bin/locus\n", "./usr/lib/systemd/system/locus.service\n",
		"./usr/lib/sysusers.d/locus.conf\n",
		"./etc/locus/locus.yaml\n", "./usr/share/man/man1/locus.1\n", "./usr/share/man/man1/locus-config-check.1\n",
		"./usr/share/bash-completion/completions/locus\n", "./usr/share/zsh/vendor-completions/_locus\n",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("the deb lacks %q", want)
		}
	}
	out := filepath.Join(dir, "out")
	sh(t, ".", "dpkg-deb", "--raw-extract", deb, out)
	if conf := sh(t, out, "cat", "DEBIAN/conffiles"); conf != "/etc/locus/locus.yaml\n/etc/locus/locus.env\n" && conf != "/etc/locus/locus.env\n/etc/locus/locus.yaml\n" {
		t.Errorf("the settings of users are those of %q", conf)
	}
	if said := sh(t, out, "./usr/bin/locus", "config", "check", "--config", "etc/locus/locus.yaml"); !strings.Contains(said, "valid") {
		t.Errorf("the packaged settings: %s", said)
	}
	if page := sh(t, out, "cat", "usr/share/man/man1/locus-serve.1"); !strings.Contains(page, "LOCUS_ADDR") || strings.Contains(page, "Auto generated") {
		t.Error("the page of locus serve does not name its variables, or the day it was made")
	}
	sh(t, out, "sh", "-n", "DEBIAN/postinst")
}

// GoReleaser packs what nfpm packs here, and the binary.
func TestPackage_SameAsTheRelease(t *testing.T) {
	t.Parallel()
	type packed struct {
		Contents []map[string]any  `yaml:"contents"`
		Scripts  map[string]string `yaml:"scripts"`
	}
	var here packed
	var release struct {
		NFPMs []packed `yaml:"nfpms"`
	}
	for path, to := range map[string]any{"deploy/package/nfpm.yaml": &here, ".goreleaser.yaml": &release} {
		text, err := os.ReadFile(filepath.Join(top, path))
		if err == nil {
			err = yaml.Unmarshal(text, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(release.NFPMs) != 1 || len(here.Contents) < 5 {
		t.Fatalf("%+v, %+v", here, release)
	}
	if fmt.Sprint(here.Contents[0]["dst"]) != "/usr/bin/locus" ||
		!reflect.DeepEqual(here.Contents[1:], release.NFPMs[0].Contents) ||
		!reflect.DeepEqual(here.Scripts, release.NFPMs[0].Scripts) {
		t.Errorf("deploy/package/nfpm.yaml and .goreleaser.yaml differ:\n%+v\n%+v", here, release.NFPMs[0])
	}
}
