// SPDX-License-Identifier: Apache-2.0

package verify_test

import (
	"fmt"
	"slices"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// kustomization is what the bases use of Kustomize.
type kustomization struct {
	meta.TypeMeta      `json:",inline"`
	Namespace          string   `json:"namespace"`
	Resources          []string `json:"resources"`
	ConfigMapGenerator []struct {
		Name  string   `json:"name"`
		Files []string `json:"files"`
	} `json:"configMapGenerator"`
	Images []struct {
		Name    string `json:"name"`
		NewName string `json:"newName"`
		NewTag  string `json:"newTag"`
	} `json:"images"`
}

// Every file of a base decodes strictly into the types of Kubernetes, and the pods are as restricted as its strictest
// profile asks.
func TestKubernetes_Decodes(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"sqlite", "postgresql"} {
		var k kustomization
		if err := yaml.UnmarshalStrict(read(t, "kubernetes/"+base+"/kustomization.yaml"), &k); err != nil {
			t.Fatalf("%s: %v", base, err)
		}
		kinds := map[string]bool{}
		for _, file := range k.Resources {
			path := "kubernetes/" + base + "/" + file
			text := read(t, path)
			var of meta.TypeMeta
			if err := yaml.Unmarshal(text, &of); err != nil {
				t.Fatal(err)
			}
			kinds[of.Kind] = true
			var pod *core.PodTemplateSpec
			var selector *meta.LabelSelector
			var err error
			switch of.APIVersion + " " + of.Kind {
			case "apps/v1 StatefulSet":
				var s apps.StatefulSet
				err = yaml.UnmarshalStrict(text, &s)
				pod, selector = &s.Spec.Template, s.Spec.Selector
				if s.Spec.Replicas == nil || *s.Spec.Replicas != 1 {
					t.Errorf("%s: a directory has one server", path)
				}
			case "apps/v1 Deployment":
				var d apps.Deployment
				err = yaml.UnmarshalStrict(text, &d)
				pod, selector = &d.Spec.Template, d.Spec.Selector
			case "v1 Service":
				err = yaml.UnmarshalStrict(text, new(core.Service))
			case "policy/v1 PodDisruptionBudget":
				err = yaml.UnmarshalStrict(text, new(policy.PodDisruptionBudget))
			case "networking.k8s.io/v1 NetworkPolicy":
				err = yaml.UnmarshalStrict(text, new(networking.NetworkPolicy))
			default:
				err = fmt.Errorf("unknown kind %+v", of)
			}
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if pod != nil {
				restricted(t, path, pod, selector)
			}
		}
		if !kinds["Service"] || !kinds["NetworkPolicy"] || !kinds["StatefulSet"] &&
			!(kinds["Deployment"] && kinds["PodDisruptionBudget"]) {
			t.Errorf("%s has only %v", base, kinds)
		}
	}
}

func restricted(t *testing.T, path string, pod *core.PodTemplateSpec, selector *meta.LabelSelector) {
	t.Helper()
	for name, value := range selector.MatchLabels {
		if pod.Labels[name] != value {
			t.Errorf("%s: the selector does not find its pods", path)
		}
	}
	s := pod.Spec.SecurityContext
	if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile == nil ||
		s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		t.Errorf("%s: the pod is not restricted: %+v", path, s)
	}
	volumes := []string{"data"} // of the claim
	for _, v := range pod.Spec.Volumes {
		volumes = append(volumes, v.Name)
	}
	for _, c := range pod.Spec.Containers {
		of := c.SecurityContext
		if of == nil || of.AllowPrivilegeEscalation == nil || *of.AllowPrivilegeEscalation ||
			of.ReadOnlyRootFilesystem == nil || !*of.ReadOnlyRootFilesystem ||
			of.Capabilities == nil || !slices.Equal(of.Capabilities.Drop, []core.Capability{"ALL"}) {
			t.Errorf("%s: the container is not restricted: %+v", path, of)
		}
		for probe, want := range map[*core.Probe]string{c.StartupProbe: "/livez", c.LivenessProbe: "/livez", c.ReadinessProbe: "/readyz"} {
			if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != want ||
				probe.HTTPGet.Scheme != core.URISchemeHTTPS {
				t.Errorf("%s: a probe is %+v, want %s", path, probe, want)
			}
		}
		for _, m := range c.VolumeMounts {
			if !slices.Contains(volumes, m.Name) {
				t.Errorf("%s: there is no volume %s", path, m.Name)
			}
		}
	}
}
