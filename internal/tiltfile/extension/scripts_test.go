package extension

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeHelm writes its arguments and its input to standard error; HELM_FAILS is the error that it ends with.
const fakeHelm = `#!/bin/sh
echo "helm $*" >&2
case "$*" in
  *--password-stdin*) echo "  password $(cat)" >&2 ;;
  "get manifest "*) echo "kind: $MANIFEST" ;;
esac
if [ -n "$HELM_FAILS" ]; then echo "Error: $HELM_FAILS" >&2; exit 1; fi
`

const fakeKubectl = `#!/bin/sh
echo "kubectl $*" >&2
sed 's/^/found /'
`

// TestHelmScripts runs the scripts of helm_resource with programs that print their arguments.
func TestHelmScripts(t *testing.T) {
	s := &Store{Dir: t.TempDir()}
	dir, err := s.EmbeddedDir("helm_resource")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, script   string
		args, env      []string
		noKubectl      bool
		stdout, stderr string
		fails          bool
	}{
		{"apply", "apply.sh", []string{"rel", "./my chart", "--namespace", "ns", "--set", "a=b c"}, []string{"HONE_HELM_NAMESPACE=ns", "MANIFEST=Pod"}, false,
			"found kind: Pod\n",
			"helm upgrade --install rel ./my chart --namespace ns --set a=b c\nhelm get manifest rel --namespace ns\n" +
				"kubectl get --namespace ns --ignore-not-found -o yaml -f -\n", false},
		{"apply without kubectl", "apply.sh", []string{"rel", "c"}, []string{"MANIFEST=Pod"}, true,
			"kind: Pod\n", "helm upgrade --install rel c\nhelm get manifest rel\n", false},
		{"dependencies first", "apply.sh", []string{"rel", "c"}, []string{"MANIFEST=Pod", "HONE_HELM_UPDATE_DEPENDENCIES=1"}, true,
			"kind: Pod\n", "helm dependency update c\nhelm upgrade --install rel c\nhelm get manifest rel\n", false},
		{"images", "apply.sh", []string{"rel", "c", "--wait", "@image:0:image", "@repository:1:i.repo", "@tag:1:i.tag", "@registry:1:j.reg",
			"@path:1:j.repo", "@registry:2:k.reg", "@path:2:k.repo", "@tag:2:k.tag", "@repository:3:l.repo", "@tag:3:l.tag", "@registry:3:l.reg"},
			[]string{"TILT_IMAGE_0=localhost:5000/api:hone-1", "TILT_IMAGE_1=gcr.io/shop/web:hone-2", "TILT_IMAGE_2=redis:7", "TILT_IMAGE_3=me/x@sha256:ab", "MANIFEST=Pod"}, true,
			"kind: Pod\n",
			"helm upgrade --install rel c --wait --set-string image=localhost:5000/api:hone-1 --set-string i.repo=gcr.io/shop/web --set-string i.tag=hone-2" +
				" --set-string j.reg=gcr.io --set-string j.repo=shop/web --set-string k.reg=docker.io --set-string k.repo=redis --set-string k.tag=7" +
				" --set-string l.repo=me/x --set-string l.tag=sha256:ab --set-string l.reg=docker.io\nhelm get manifest rel\n", false},
		{"a missing image", "apply.sh", []string{"rel", "c", "@image:4:image"}, nil, true, "", "TILT_IMAGE_4 is not set: there is no image for image\n", true},
		{"helm fails", "apply.sh", []string{"rel", "c"}, []string{"HELM_FAILS=no"}, true, "", "helm upgrade --install rel c\nError: no\n", true},
		{"delete", "delete.sh", []string{"rel", "--namespace", "ns"}, nil, true, "", "helm uninstall rel --namespace ns\n", false},
		{"delete a missing release", "delete.sh", []string{"rel"}, []string{"HELM_FAILS=uninstall: Release not loaded: rel: release: not found"}, true,
			"", "helm uninstall rel\nError: uninstall: Release not loaded: rel: release: not found\n", false},
		{"delete fails", "delete.sh", []string{"rel"}, []string{"HELM_FAILS=cluster unreachable"}, true, "", "helm uninstall rel\nError: cluster unreachable\n", true},
		{"repository", "repo.sh", []string{"bitnami", "https://charts.test/b", ""}, nil, true, "", "helm repo add bitnami https://charts.test/b --force-update\n", false},
		{"private repository", "repo.sh", []string{"p", "https://charts.test/p", "me"}, []string{"HONE_HELM_REPO_PASSWORD=pw"}, true,
			"", "helm repo add p https://charts.test/p --force-update --username me --password-stdin\n  password pw\n", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bin := tools(t, tc.noKubectl)
			cmd := exec.Command("sh", append([]string{filepath.Join(dir, tc.script)}, tc.args...)...)
			cmd.Env = append(slices.Clip(tc.env), "PATH="+bin)
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			if (err != nil) != tc.fails {
				t.Errorf("it ended with %v", err)
			}
			if diff := cmp.Diff(tc.stdout, stdout.String()); diff != "" {
				t.Errorf("standard output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.stderr, stderr.String()); diff != "" {
				t.Errorf("standard error (-want +got):\n%s", diff)
			}
		})
	}
}

// tools returns a folder with only the programs that scripts may use.
func tools(t *testing.T, noKubectl bool) string {
	t.Helper()
	bin := t.TempDir()
	for name, text := range map[string]string{"helm": fakeHelm, "kubectl": fakeKubectl} {
		if name == "kubectl" && noKubectl {
			continue
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sh", "cat", "sed"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}
