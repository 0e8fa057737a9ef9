package tiltfile

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const policyYAML = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: busybox}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: web, annotations: {hone.dev/on-remove: confirm}}
spec: {selector: {a: b}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, annotations: {mine: kept}}
`

// TestPolicies declares policies for objects, which become annotations of the objects. Annotations in the YAML stay.
func TestPolicies(t *testing.T) {
	for _, tc := range []struct{ name, calls, want, err string }{
		{"none", "", "conf: mine=kept\nweb: \nweb: hone.dev/on-remove=confirm\n", ""},
		{"on_remove", "k8s_resource('web', on_remove='orphan')", "conf: mine=kept\nweb: hone.dev/on-remove=orphan\nweb: hone.dev/on-remove=confirm\n", ""},
		{"a group", "k8s_resource(new_name='conf', objects=['conf'], read_only=True, adopt='never', apply='once')",
			"web: \nweb: hone.dev/on-remove=confirm\nconf: hone.dev/adopt=never hone.dev/apply=once hone.dev/read-only=true mine=kept\n", ""},
		{"keep", "k8s_resource('web', keep=True)", "conf: mine=kept\nweb: hone.dev/apply=keep\nweb: hone.dev/apply=keep hone.dev/on-remove=confirm\n", ""},
		{"keep and once", "k8s_resource('web', keep=True, apply='once')", "", `Tiltfile:2: k8s_resource: keep=True and apply="once" contradict each other`},
		{"ignore for all", "k8s_resource('web', ignore=['/spec/replicas', '/spec/ports/0/nodePort'])",
			"conf: mine=kept\nweb: hone.dev/ignore=/spec/replicas /spec/ports/0/nodePort\nweb: hone.dev/ignore=/spec/replicas /spec/ports/0/nodePort hone.dev/on-remove=confirm\n", ""},
		{"ignore by kind, in two calls", "k8s_resource('web', ignore={'Deployment': '/spec/replicas'})\nk8s_resource('web', ignore={'Deployment': ['/spec/paused']}, read_only=False)",
			"conf: mine=kept\nweb: hone.dev/ignore=/spec/replicas /spec/paused\nweb: hone.dev/on-remove=confirm\n", ""},
		{"shared", "k8s_resource('web', shared=True)\nk8s_resource(new_name='conf', objects=['conf'], shared=True)\nk8s_resource('conf', shared=False)",
			"web: hone.dev/shared=true\nweb: hone.dev/on-remove=confirm hone.dev/shared=true\nconf: mine=kept\n", ""},
		{"a later call replaces", "k8s_resource('web', adopt='never', read_only=True)\nk8s_resource('web', adopt='always', read_only=False)",
			"conf: mine=kept\nweb: hone.dev/adopt=always\nweb: hone.dev/adopt=always hone.dev/on-remove=confirm\n", ""},
		{"a setting for all", "k8s_resource(new_name='conf', objects=['conf'], adopt='never')\nupdate_settings(adopt='kubectl')",
			"web: hone.dev/adopt=kubectl\nweb: hone.dev/adopt=kubectl hone.dev/on-remove=confirm\nconf: hone.dev/adopt=never mine=kept\n", ""},
		{"a setting, with uncategorized objects", "update_settings(adopt='always')",
			"conf: hone.dev/adopt=always mine=kept\nweb: hone.dev/adopt=always\nweb: hone.dev/adopt=always hone.dev/on-remove=confirm\n", ""},
		{"an unknown setting", "update_settings(adopt='helm')", "", `Tiltfile:2: update_settings: adopt: "helm" is not one of always, never, kubectl`},
		{"an unknown word", "k8s_resource('web', on_remove='forget')", "", `Tiltfile:2: k8s_resource: on_remove: got "forget", want one of delete, down, confirm, orphan`},
		{"no pointer", "k8s_resource('web', ignore='spec.replicas')", "", `Tiltfile:2: k8s_resource: ignore: "spec.replicas" is not a JSON pointer such as "/spec/replicas"`},
		{"two pointers in one", "k8s_resource('web', ignore='/spec/replicas,/spec/x')", "", `is not a JSON pointer`},
		{"no such kind", "k8s_resource('web', ignore={'StatefulSet': '/spec/replicas'})", "", `Tiltfile:2: k8s_resource: ignore: "web" has no object of kind StatefulSet`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			writeFile(t, filepath.Join(root, "Tiltfile"), []byte("k8s_yaml('web.yaml')\n"+tc.calls+"\n"))
			writeFile(t, filepath.Join(root, "web.yaml"), []byte(policyYAML))
			res := Load(t.Context(), Options{Path: filepath.Join(root, "Tiltfile"), Subcommand: "up"})
			if tc.err != "" {
				if res.Err == nil || !strings.Contains(res.Err.Error(), tc.err) {
					t.Errorf("%v", res.Err)
				}
				return
			}
			if res.Err != nil {
				t.Fatal(res.Err)
			}
			var got strings.Builder
			for _, m := range res.Manifests {
				for _, o := range m.K8s.Objects {
					var object struct {
						Metadata struct{ Annotations map[string]string }
					}
					if err := json.Unmarshal([]byte(o.JSON), &object); err != nil {
						t.Fatal(err)
					}
					text := fmt.Sprint(object.Metadata.Annotations)
					text = strings.NewReplacer("map[", "", "]", "", "hone.dev/adopt:", "hone.dev/adopt=", "hone.dev/apply:", "hone.dev/apply=", "hone.dev/ignore:", "hone.dev/ignore=",
						"hone.dev/on-remove:", "hone.dev/on-remove=", "hone.dev/read-only:", "hone.dev/read-only=", "hone.dev/shared:", "hone.dev/shared=", "mine:", "mine=").Replace(text)
					fmt.Fprintf(&got, "%s: %s\n", o.Name, text)
				}
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
