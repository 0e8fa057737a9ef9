package tiltfile

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

const declaredProject = `

load('./lib.star', 'service')
docker_build('api', 'api',
    live_update=[sync('api', '/app')])
k8s_yaml('api.yaml')
service('api')
local_resource('gen', 'make gen', deps=['a'])
docker_compose('compose.yml')
dc_resource('cache', labels=['infra'])
k8s_custom_deploy('custom', apply_cmd='true', delete_cmd='true', deps=[])
`

// loadDeclared evaluates a Tiltfile in a project with a bit of everything.
func loadDeclared(t *testing.T, program string) (root string, res Result) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deployment := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: api}]}}}\n"
	for name, text := range map[string]string{
		"Tiltfile": program, "api.yaml": deployment, "api/Dockerfile": "FROM busybox\n", "compose.yml": "services:\n  cache: {image: redis}\n",
		"lib.star": "\ndef service(name):\n    k8s_resource(name,\n        labels=['backend'])\n    k8s_resource(name, resource_deps=['gen'])\n",
	} {
		writeFile(t, filepath.Join(root, name), []byte(text))
	}
	res = Load(t.Context(), Options{Path: filepath.Join(root, "Tiltfile"), Subcommand: "up"})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	return root, res
}

// declaredText lists the calls that shaped each resource.
func declaredText(root string, res Result) string {
	var b strings.Builder
	for _, m := range res.Manifests {
		for _, d := range res.Declared[m.Name] {
			rel, _ := filepath.Rel(root, d.File)
			fmt.Fprintf(&b, "%s: %s %s:%d", m.Name, d.Call, rel, d.Line)
			if d.From > 0 {
				fmt.Fprintf(&b, " from %d", d.From)
			}
			b.WriteString("\n")
			for _, line := range d.Source {
				b.WriteString("  |" + line + "\n")
			}
		}
	}
	return b.String()
}

// TestDeclared checks the calls that are recorded for each resource, their places, and the lines that led to them.
func TestDeclared(t *testing.T) {
	root, res := loadDeclared(t, declaredProject)
	want := `custom: k8s_custom_deploy Tiltfile:11
  |k8s_custom_deploy('custom', apply_cmd='true', delete_cmd='true', deps=[])
api: docker_build Tiltfile:4
  |docker_build('api', 'api',
  |    live_update=[sync('api', '/app')])
api: k8s_yaml Tiltfile:6
  |k8s_yaml('api.yaml')
api: k8s_resource lib.star:3 from 7
  |    k8s_resource(name,
  |        labels=['backend'])
api: k8s_resource lib.star:5 from 7
  |    k8s_resource(name, resource_deps=['gen'])
cache: docker_compose Tiltfile:9
  |docker_compose('compose.yml')
cache: dc_resource Tiltfile:10
  |dc_resource('cache', labels=['infra'])
gen: local_resource Tiltfile:8
  |local_resource('gen', 'make gen', deps=['a'])
`
	if diff := cmp.Diff(want, declaredText(root, res)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDeclaredRules checks that a resource lists the calls whose rules have shaped it: those for the kind of one of its objects,
// and the function that has named it.
func TestDeclaredRules(t *testing.T) {
	root, res := loadDeclared(t, `
def name(id):
    return 'the-' + id.name
workload_to_resource_function(name)
k8s_kind('Thing', image_json_path='{.spec.image}',
    pod_readiness='ignore')
k8s_kind('Other')
k8s_image_json_path('{.spec.image}', name='box')
k8s_yaml('api.yaml')
k8s_yaml(blob('{"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "box"}, "spec": {"image": "redis"}}'))
k8s_yaml(blob('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}'))
k8s_custom_deploy('custom', apply_cmd='true', delete_cmd='true', deps=[])
`)
	want := `uncategorized: k8s_yaml Tiltfile:11
  |k8s_yaml(blob('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}'))
custom: k8s_custom_deploy Tiltfile:12
  |k8s_custom_deploy('custom', apply_cmd='true', delete_cmd='true', deps=[])
the-api: workload_to_resource_function Tiltfile:4
  |workload_to_resource_function(name)
the-api: k8s_yaml Tiltfile:9
  |k8s_yaml('api.yaml')
the-box: workload_to_resource_function Tiltfile:4
  |workload_to_resource_function(name)
the-box: k8s_kind Tiltfile:5
  |k8s_kind('Thing', image_json_path='{.spec.image}',
  |    pod_readiness='ignore')
the-box: k8s_image_json_path Tiltfile:8
  |k8s_image_json_path('{.spec.image}', name='box')
the-box: k8s_yaml Tiltfile:10
  |k8s_yaml(blob('{"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "box"}, "spec": {"image": "redis"}}'))
`
	if diff := cmp.Diff(want, declaredText(root, res)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDeclaredHidesSecrets checks that the source of a call does not show values that logs must not show.
func TestDeclaredHidesSecrets(t *testing.T) {
	_, res := loadDeclared(t, `k8s_yaml(blob('{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "hunter2-hunter2"}}'))`)
	calls := res.Declared[model.UncategorizedName]
	if len(calls) != 1 || len(calls[0].Source) != 1 || strings.Contains(calls[0].Source[0], "hunter2") || !strings.Contains(calls[0].Source[0], "k8s_yaml(blob(") {
		t.Errorf("calls: %+v", calls)
	}
}

// TestMovedLines checks that a call on another line is no other manifest, so that nothing is built because of it.
func TestMovedLines(t *testing.T) {
	program := "local_resource('gen', 'make gen')\n"
	_, first := loadDeclared(t, program)
	_, second := loadDeclared(t, "\n\n"+program)
	if a, b := first.Declared["gen"][0].Line, second.Declared["gen"][0].Line; a != 1 || b != 3 {
		t.Errorf("declared in line %d, then %d", a, b)
	}
	for i := range second.Manifests {
		second.Manifests[i].Local.Update.Dir = first.Manifests[i].Local.Update.Dir // each has a folder of its own
	}
	if !reflect.DeepEqual(first.Manifests, second.Manifests) {
		t.Errorf("manifests differ:\n%s", cmp.Diff(first.Manifests, second.Manifests))
	}
}

// TestDeclaredByExtension checks a call by an extension that is part of hone: it is shown as the user's call of the extension.
func TestDeclaredByExtension(t *testing.T) {
	root, res := loadDeclared(t, "load('ext://uibutton', 'cmd_button')\nload('ext://restart_process', 'docker_build_with_restart')\n"+
		"docker_build_with_restart('api', 'api',\n    entrypoint=['a'], live_update=[sync('api', '/app')])\nk8s_yaml('api.yaml')\n")
	want := "api: docker_build_with_restart Tiltfile:3\n  |docker_build_with_restart('api', 'api',\n  |    entrypoint=['a'], live_update=[sync('api', '/app')])\napi: k8s_yaml Tiltfile:5\n  |k8s_yaml('api.yaml')\n"
	if diff := cmp.Diff(want, declaredText(root, res)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
