// SPDX-License-Identifier: Apache-2.0

package verify_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// Compose itself loads the files; an unknown key is an error.
func TestCompose_Loads(t *testing.T) {
	t.Parallel()
	for name, services := range map[string]int{"single.yaml": 1, "cluster.yaml": 7} {
		dir, err := filepath.Abs("../compose")
		if err != nil {
			t.Fatal(err)
		}
		load := func(text []byte) (*types.Project, error) {
			return loader.LoadWithContext(t.Context(), types.ConfigDetails{
				WorkingDir: dir, ConfigFiles: []types.ConfigFile{{Filename: name, Content: text}},
			}, func(o *loader.Options) { o.SkipResolveEnvironment = true })
		}
		text := read(t, "compose/"+name)
		p, err := load(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(p.Services) != services {
			t.Errorf("%s has %d services, want %d", name, len(p.Services), services)
		}
		for _, s := range p.Services {
			for _, m := range s.Volumes {
				if m.Type != types.VolumeTypeBind {
					continue
				}
				if _, err := os.Stat(m.Source); err != nil {
					t.Errorf("%s: %s mounts what is not there: %v", name, s.Name, err)
				}
			}
			for _, secret := range s.Secrets {
				if _, ok := p.Secrets[secret.Source]; !ok {
					t.Errorf("%s: %s has no secret %s", name, s.Name, secret.Source)
				}
			}
			for _, port := range s.Ports {
				if port.HostIP != "127.0.0.1" {
					t.Errorf("%s: %s is published to the network", name, s.Name)
				}
			}
		}
		if _, err := load(bytes.Replace(text, []byte("restart:"), []byte("restrat:"), 1)); err == nil {
			t.Errorf("%s: a misspelt key is accepted", name)
		}
	}
}

// BuildKit's own parser reads the Dockerfile. Building it needs a registry.
func TestDockerfile_Parses(t *testing.T) {
	t.Parallel()
	text := read(t, "docker/Dockerfile")
	result, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	stages, _, err := instructions.Parse(result.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(stages) != 2 {
		t.Fatalf("%d stages", len(stages))
	}
	found := map[string]bool{}
	for _, c := range stages[1].Commands {
		found[c.Name()] = true
		if user, ok := c.(*instructions.UserCommand); ok && user.User != "65532:65532" {
			t.Errorf("the user is %s", user.User)
		}
	}
	for _, want := range []string{"USER", "HEALTHCHECK", "ENTRYPOINT", "CMD", "VOLUME"} {
		if !found[want] && !found[lower(want)] {
			t.Errorf("the image has no %s: %v", want, found)
		}
	}
	if _, err := parser.Parse(bytes.NewReader(nil)); err == nil {
		t.Error("an empty file is accepted")
	}
}

func lower(s string) string { return string(bytes.ToLower([]byte(s))) }
