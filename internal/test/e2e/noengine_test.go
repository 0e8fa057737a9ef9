package e2e

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// toolless has two images with one static program each, that are built in the cluster. One serves files, and the other one reads its text once, at
// its start.
var toolless = `
-- Tiltfile --
builder('kubernetes', image='$IMAGE', requests={'cpu': '10m'})
docker_build('bare', '.', dockerfile='bare.Dockerfile', only=['static', 'site'], live_update=[sync('site', '/www')])
docker_build('restarting', 'src', dockerfile='Dockerfile',
    live_update=[sync('src/app', '/app'), restart_process(trigger='src/app/text')])
k8s_yaml(['bare.yaml', 'pod.yaml'])
k8s_resource('bare', port_forwards='$PORT0:8080')
k8s_resource('restarting', port_forwards='$PORT1:8080')
-- Dockerfile --
FROM scratch
COPY server /server
COPY app /app
ENTRYPOINT ["/server"]
CMD ["/app/text"]
-- src/app/text --
one
-- pod.yaml --
` + deployment("restarting", `
terminationGracePeriodSeconds: 5
containers:
- {name: main, image: restarting}
`) + bareFiles

// TestNoEngine updates containers without tools in place, and restarts a process in one, where no container engine answers: the synclet goes to
// the registry or to the node as other images do.
func TestNoEngine(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*project){
		"registry": func(*project) {},
		"node":     func(p *project) { p.env = append(p.env, "KUBECONFIG="+p.seesNoRegistry()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newNoEngine(t, toolless, newBareProject).compiled()
			change(p)
			tried := p.tried("bare", "restarting")
			s := p.up()
			s.ready("bare")
			s.ready("restarting")
			for _, app := range []string{"bare", "restarting"} {
				pods, err := p.pods(app)
				if err != nil || len(pods) != 1 || pods[0].Spec.Containers[0].Image != tried[app].Reference {
					t.Errorf("the pods are %+v, %v, and the preview said %+v", pods, err, tried[app])
				}
			}
			s.serves(p.ports[0], "/", "one")
			s.serves(p.ports[1], "/", "one")
			if name == "node" {
				s.says("(Importing into|Already in) the node's containerd: hone-synclet:")
			}
			// An image on a busy node is not read in time; containers tell later.
			s.says("Putting the synclet into containers of bare: the image has neither sh nor tar|Ways that failed before: shell: .*; tar: ")
			before, err := p.onlyContainer("restarting")
			if err != nil {
				t.Fatal(err)
			}
			p.write("site/index.html", "two")
			s.serves(p.ports[0], "/", "two")
			p.write("src/app/text", "two")
			s.serves(p.ports[1], "/", "two")
			for _, app := range []string{"bare", "restarting"} {
				if b := s.builds(app, 2); b.Mode != "synclet" || b.Error != "" || b.FellBack != "" {
					t.Errorf("build of %s: %+v", app, b)
				}
			}
			if now, err := p.onlyContainer("restarting"); err != nil || now.ContainerID != before.ContainerID || now.RestartCount != 0 {
				t.Errorf("the container is %+v, and was %+v: %v", now, before, err)
			}
		})
	}
}

// newNoEngine returns a project whose images are built in the cluster. No container engine answers it.
func newNoEngine(t *testing.T, archive string, begin func(*testing.T, string) *project) *project {
	t.Helper()
	p := begin(t, strings.NewReplacer("$IMAGE", builderImageName(t)).Replace(archive))
	p.env = append(p.env, "DOCKER_HOST=unix://"+t.TempDir()+"/dead.sock")
	t.Cleanup(func() { p.run("down", "--builders", "--namespace", p.namespace) })
	return p
}

var (
	clusterRoles        = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	clusterRoleBindings = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}
)

// seesNoRegistry returns a kubeconfig of an account that has all rights in the project's namespace, and sees of the cluster as much as hone asks
// for, except the registry that it announces.
func (p *project) seesNoRegistry() (kubeconfig string) {
	p.t.Helper()
	all := []any{map[string]any{"apiGroups": []any{"*"}, "resources": []any{"*"}, "verbs": []any{"*"}}}
	kubeconfig = p.actAs("developer", all)
	meta := map[string]any{"name": p.namespace}
	for kind, o := range map[schema.GroupVersionResource]map[string]any{
		clusterRoles: {"kind": "ClusterRole", "rules": []any{
			map[string]any{"apiGroups": []any{"*"}, "resources": []any{"nodes", "namespaces", "storageclasses"}, "verbs": []any{"get", "list", "watch"}}}},
		clusterRoleBindings: {"kind": "ClusterRoleBinding",
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": p.namespace},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "developer", "namespace": p.namespace}}},
	} {
		o["apiVersion"], o["metadata"] = "rbac.authorization.k8s.io/v1", meta
		if _, err := p.dyn.Resource(kind).Create(p.t.Context(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{}); err != nil {
			p.t.Fatal(err)
		}
		p.t.Cleanup(func() {
			_ = p.dyn.Resource(kind).Delete(context.WithoutCancel(p.t.Context()), p.namespace, metav1.DeleteOptions{})
		})
	}
	return kubeconfig
}
