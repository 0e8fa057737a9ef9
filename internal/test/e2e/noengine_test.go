package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
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

// applied is a program that a command deploys, and that is restarted in place. The builder in the cluster builds its image, or a command that
// needs no engine does.
var applied = `
-- Tiltfile --
builder('kubernetes', image='$IMAGE', requests={'cpu': '10m'})
docker_build('restarting', 'src', dockerfile='Dockerfile', live_update=[sync('src/app', '/app'), restart_process(trigger='src/app/text')])
k8s_custom_deploy('restarting', apply_cmd='sed "s#image: restarting#image: $TILT_IMAGE_0#" pod.yaml | kubectl apply -n $NS -o yaml -f -',
    delete_cmd='kubectl delete -n $NS --ignore-not-found -f pod.yaml', deps=['pod.yaml'], image_deps=['restarting'])
k8s_resource('restarting', port_forwards='$PORT0:8080')
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
`)

// TestNoEngineCustomDeploy restarts a process in a pod that a command deploys, where no container engine answers: the synclet goes on top of the
// image in the registry or in the node, also if a command has delivered it there.
func TestNoEngineCustomDeploy(t *testing.T) {
	t.Parallel()
	d := buildkittest.Start(t)
	byCommand := func(p *project, output string) {
		p.replace("Tiltfile", "builder('kubernetes', image='"+builderImageName(t)+"', requests={'cpu': '10m'})\n", "")
		p.replace("Tiltfile", "docker_build('restarting', 'src', dockerfile='Dockerfile',", `custom_build('restarting', 'buildctl --addr unix://`+d.Socket+
			` build --frontend dockerfile.v0 --local context=src --local dockerfile=. `+output+`', ['src'], skips_local_docker=True,`)
		p.env = append(p.env, "PATH="+os.Getenv(buildkittest.Variable)+":"+os.Getenv("PATH"))
	}
	noRegistry := func(p *project) { p.env = append(p.env, "KUBECONFIG="+p.seesNoRegistry()) }
	for name, change := range map[string]func(*project){
		"registry":          func(*project) {},
		"node":              noRegistry,
		"command, registry": func(p *project) { byCommand(p, "--output type=image,name=$EXPECTED_REF,push=true") },
		"command, node": func(p *project) {
			noRegistry(p)
			byCommand(p, "--output type=docker,name=docker.io/library/$EXPECTED_REF | ctr -n k8s.io images import -")
		},
		"command, and hone deploys": func(p *project) {
			byCommand(p, "--output type=image,name=$EXPECTED_REF,push=true")
			raw, err := os.ReadFile(filepath.Join(p.dir, "Tiltfile"))
			if err != nil {
				t.Fatal(err)
			}
			text := string(raw)
			deploy, rest := strings.Index(text, "k8s_custom_deploy("), strings.Index(text, "k8s_resource(")
			p.write("Tiltfile", text[:deploy]+"k8s_yaml('pod.yaml')\n"+text[rest:])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newNoEngine(t, applied, newBareProject).compiled()
			change(p)
			s := p.up()
			s.ready("restarting")
			s.says("Putting the synclet into (the image|containers of restarting)")
			s.serves(p.ports[0], "/", "one")
			before, err := p.onlyContainer("restarting")
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"two", "three"} {
				p.write("src/app/text", text)
				s.serves(p.ports[0], "/", text)
			}
			if b := s.builds("restarting", 2); b.Mode != "synclet" || b.Error != "" || b.FellBack != "" {
				t.Errorf("the update: %+v", b)
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
