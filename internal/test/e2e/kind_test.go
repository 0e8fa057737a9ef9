package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// machine is a custom resource that names its image in two ways, and its definition, which no operator serves.
const machine = `
-- Tiltfile --
docker_build('app', '.', dockerfile='app.Dockerfile')
k8s_yaml(['crd.yaml', 'machine.yaml'])
k8s_kind('Machine', api_version='$NS.example.com/.*', image_object={'json_path': '{.spec.image}', 'repo_field': 'repo', 'tag_field': 'tag'})
k8s_image_json_path('{.spec.sidecars[*].image}', kind='Machine')
k8s_resource('m', resource_deps=['definition'], pod_readiness='ignore')
k8s_resource(new_name='definition', objects=['machines.$NS.example.com'])
-- app.Dockerfile --
FROM busybox
LABEL project=$NS
-- crd.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: machines.$NS.example.com}
spec:
  group: $NS.example.com
  scope: Namespaced
  names: {kind: Machine, listKind: MachineList, plural: machines, singular: machine}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
-- machine.yaml --
apiVersion: $NS.example.com/v1
kind: Machine
metadata: {name: m}
spec:
  image: {repo: app, tag: v1}
  sidecars: [{image: app}, {image: busybox}]
`

// TestKind injects a built image into an object of the user's own kind, in every form in which it names the image.
func TestKind(t *testing.T) {
	t.Parallel()
	p := newProject(t, machine)
	t.Cleanup(func() {
		if out, code := p.run("down", "--namespace", p.namespace); code != 0 {
			t.Errorf("down: code %d\n%s", code, out)
		}
	})
	s := p.up()
	s.ready("m")
	u, err := p.dyn.Resource(schema.GroupVersionResource{Group: p.namespace + ".example.com", Version: "v1", Resource: "machines"}).
		Namespace(p.namespace).Get(t.Context(), "m", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	repo, _, _ := unstructured.NestedString(u.Object, "spec", "image", "repo")
	tag, _, _ := unstructured.NestedString(u.Object, "spec", "image", "tag")
	if !strings.HasPrefix(tag, "hone-") {
		t.Errorf("the image is %s:%s", repo, tag)
	}
	sidecars, _, _ := unstructured.NestedSlice(u.Object, "spec", "sidecars")
	var images []string
	for _, c := range sidecars {
		images = append(images, c.(map[string]any)["image"].(string))
	}
	if got, want := strings.Join(images, " "), repo+":"+tag+" busybox"; got != want {
		t.Errorf("the sidecars' images are %s, want %s", got, want)
	}
	s.stop()
}
