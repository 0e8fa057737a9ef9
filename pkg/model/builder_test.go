package model

import (
	"slices"
	"testing"
)

// TestBuilderPods lists the pods of a builder: its replicas, for each platform.
func TestBuilderPods(t *testing.T) {
	type replica struct {
		arch   string
		number int
		nodes  string
	}
	for _, tt := range []struct {
		pod  BuilderPod
		want []replica
	}{
		{BuilderPod{}, []replica{{"", 0, ""}}},
		{BuilderPod{Replicas: 2}, []replica{{"", 0, ""}, {"", 1, ""}}},
		{BuilderPod{Platforms: []string{"linux/amd64"}}, []replica{{"amd64", 0, "amd64"}}},
		{BuilderPod{Replicas: 2, Platforms: []string{"linux/amd64", "linux/arm64"}}, []replica{{"amd64", 0, "amd64"}, {"amd64", 1, "amd64"}, {"arm64", 0, "arm64"}, {"arm64", 1, "arm64"}}},
		{BuilderPod{Platforms: []string{"linux/arm64"}, NodeSelector: map[string]string{NodeArch: "amd64", "disk": "ssd"}}, []replica{{"arm64", 0, "arm64"}}},
	} {
		var got []replica
		for _, r := range tt.pod.All() {
			if tt.pod.NodeSelector["disk"] != r.Pod.NodeSelector["disk"] || len(r.Pod.Platforms) > 0 {
				t.Errorf("%+v: %+v", tt.pod, r)
			}
			got = append(got, replica{r.Arch, r.Number, r.Pod.NodeSelector[NodeArch]})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %+v", tt.pod, got)
		}
	}
}

// TestKeptRegistry finds the namespace in the address of a registry that hone keeps, and in no other one.
func TestKeptRegistry(t *testing.T) {
	for host, want := range map[string]string{
		KeptRegistry("shop", RegistryPod{}).Host: "shop",
		KeptRegistry("", RegistryPod{}).Host:     "default",
		"hone-registry.svc:5000":                 "",
		"hone-registry..svc:5000":                "",
		"hone-registry.shop.svc":                 "",
		"registry.shop.svc:5000":                 "",
		"localhost:5000":                         "",
		"hone-registry.shop.svc:5000/image":      "",
	} {
		if got, ok := KeptIn(host); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t", host, got, ok)
		}
	}
	for namespace, image := range map[string]string{"shop": "", "dev": "registry.example.com/registry:3"} {
		r := KeptRegistry(namespace, RegistryPod{Image: image})
		if port := KeptRegistryNodePort(namespace); port < 25000 || port >= 30000 || !r.Kept() || image != "" && r.Pod.Image != image {
			t.Errorf("%+v", r)
		}
	}
	own, kept := Registry{Host: "registry.example.com"}, KeptRegistry("shop", RegistryPod{})
	for _, tt := range []struct {
		set  Registry
		on   string
		want Registry
	}{{own, "", own}, {own, "eu", own}, {kept, "", kept}, {kept, "eu", Registry{}}} {
		if got := (Tiltfile{DefaultRegistry: tt.set}).RegistryFor(tt.on); got != tt.want {
			t.Errorf("the registry of %q is %+v", tt.on, got)
		}
	}
}
