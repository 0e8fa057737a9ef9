package suggest

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"docker_build", "custom_build", "k8s_yaml", "sync", "web"}
	for word, want := range map[string]string{
		"docker_biuld": "docker_build", "dockerbuild": "docker_build", "DockerBuild": "docker_build", "k8syaml": "k8s_yaml",
		"wbe": "web", "synk": "sync", "sunk": "", "xyz": "", "": "", "kubernetes": "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
