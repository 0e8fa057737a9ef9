package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/pkg/api"
)

// deployments refuses the requests that change a Deployment.
func deployments(status, retryAfter int) func(*http.Request) refusal {
	return func(r *http.Request) refusal {
		if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/deployments/") {
			return refusal{status, retryAfter}
		}
		return refusal{}
	}
}

// everything refuses all requests, as an API server does that is starting.
func everything(status, retryAfter int) func(*http.Request) refusal {
	return func(*http.Request) refusal { return refusal{status, retryAfter} }
}

// times refuses only the given number of requests, and lets the rest through.
func times(n int, refuses func(*http.Request) refusal) func(*http.Request) refusal {
	return func(r *http.Request) refusal {
		no := refuses(r)
		if no.status == 0 {
			return no
		}
		if n--; n < 0 {
			return refusal{}
		}
		return no
	}
}

// TestRejectedDeploy edits the YAML so that the cluster refuses it and then saves a file that could be copied into the
// container: the resource stays failed until the cluster has the declared objects.
func TestRejectedDeploy(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	s.says(`Ready to update web in place`)

	p.scale("-1")
	if b := s.builds("web", 2); !strings.Contains(b.Error, "spec.replicas") {
		t.Fatalf("build: %+v", b)
	}
	p.write("site/index.html", "two")
	if b := s.builds("web", 3); !strings.Contains(b.Error, "spec.replicas") {
		t.Errorf("after a save: %+v", b)
	}
	if r, _ := s.resource("web"); r.UpdateStatus != "error" {
		t.Errorf("after a save, hone says %s", r.UpdateStatus)
	}
	s.asDeclared()
	p.replace("web.yaml", "replicas: -1", "replicas: 2")
	s.ready("web")
	s.serves(p.ports[0], "/", "two")
	p.scaled(2)
	p.write("site/index.html", "three")
	s.serves(p.ports[0], "/", "three")
	s.ready("web")
	if r, _ := s.resource("web"); r.BuildHistory[0].Mode != "synclet" {
		t.Errorf("afterwards updates do not go in place: %+v", r.BuildHistory[0])
	}
}

// TestLacking deploys into a namespace that does not exist, and an object of a kind that the cluster does not know. Both are
// deployed without a trigger, as soon as others create the namespace and the kind.
func TestLacking(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
k8s_yaml(['conf.yaml', 'widget.yaml'])
k8s_resource(objects=['conf'], new_name='conf')
k8s_resource(objects=['w:Widget'], new_name='w')
-- conf.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: $NS-later}
-- widget.yaml --
apiVersion: $NS.example.com/v1
kind: Widget
metadata: {name: w}
-- crd --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.$NS.example.com}
spec:
  group: $NS.example.com
  names: {kind: Widget, plural: widgets, singular: widget}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`)
	s := p.up()
	for _, name := range []string{"conf", "w"} {
		if b := s.builds(name, 1); b.Error == "" {
			t.Errorf("%s is deployed: %+v", name, b)
		}
	}
	s.says(p.expand(`namespace "$NS-later" does not exist`))
	s.says(`Trying again in 2s`)
	p.kubectl("create", "namespace", p.namespace+"-later")
	defer p.kubectl("delete", "namespace", p.namespace+"-later", "--wait=false")
	p.kubectl("apply", "-f", "crd")
	defer p.kubectl("delete", "-f", "crd", "--wait=false")
	s.ready("conf")
	s.ready("w")
	p.says(0, []string{"down"})
}

// gated returns the project web, behind an API server that can be made to refuse requests.
func gated(t *testing.T) (*project, *gate) {
	p := newProject(t, web)
	g, kubeconfig := newGate(t)
	p.env = append(p.env, "KUBECONFIG="+kubeconfig)
	return p, g
}

// scale declares the replicas of web, for the first time.
func (p *project) scale(replicas string) {
	p.t.Helper()
	p.replace("web.yaml", "spec:\n  selector", "spec:\n  replicas: "+replicas+"\n  selector")
}

// scaled checks the replicas of web in the cluster.
func (p *project) scaled(want int64) {
	p.t.Helper()
	u, err := p.get("apps", "v1", "deployments", "web")
	if err != nil {
		p.t.Error(err)
		return
	}
	if n, _, err := unstructured.NestedInt64(u.Object, "spec", "replicas"); err != nil || n != want {
		p.t.Errorf("web has %d replicas, want %d (%v)", n, want, err)
	}
}

// TestAnswersThatPass makes the API server answer that it cannot serve requests at present.
func TestAnswersThatPass(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"429": 429, "500": 500, "503": 503} {
		t.Run("for a moment/"+name, func(t *testing.T) {
			t.Parallel()
			p, g := gated(t)
			s := p.up()
			s.ready("web")
			g.refuse(times(2, deployments(status, 2)))
			p.scale("2")
			s.says(fmt.Sprintf(`web │ .*answers %d .*\(refused by the test\): trying again in 2s \(2 of 6\)`, status))
			if b := s.builds("web", 2); b.Error != "" || g.count() != 2 {
				t.Errorf("build: %+v after %d answers", b, g.count())
			}
			s.ready("web")
			p.scaled(2)
		})
	}
	t.Run("for long", func(t *testing.T) {
		t.Parallel()
		p, g := gated(t)
		s := p.up()
		s.ready("web")
		g.refuse(deployments(500, 0))
		p.scale("2")
		s.becomes("web", "waiting, and saying so", func(r api.Resource) bool {
			return r.CurrentBuild != nil && strings.Contains(r.CurrentBuild.Stage, "Deploying: the API server answers 500")
		})
		if b := s.builds("web", 2); !strings.Contains(b.Error, "the API server answers 500 Internal Server Error (refused by the test)") || g.count() < 6 {
			t.Errorf("build: %+v after %d answers", b, g.count())
		}
		s.says(`trying again in .* \(6 of 6\)`)
		s.says(`web │ Trying again in 2s`)
		g.refuse(nil)
		s.ready("web") // without a further change
		p.scaled(2)
		p.write("site/index.html", "two")
		s.serves(p.ports[0], "/", "two")
		s.ready("web")
	})
	t.Run("the whole cluster, during a deploy", func(t *testing.T) {
		t.Parallel()
		p, g := gated(t)
		s := p.up()
		s.ready("web")
		gone := false
		g.refuse(func(r *http.Request) refusal {
			gone = gone || r.Method == http.MethodPatch
			if gone {
				return refusal{503, 0}
			}
			return refusal{}
		})
		p.scale("2")
		s.becomes("web", "waiting for the cluster", waitsForCluster)
		g.refuse(nil)
		s.builds("web", 2)
		s.ready("web")
		p.scaled(2)
	})
	for name, verb := range map[string]string{"at the start": "up", "at the start of ci": "ci"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, g := gated(t)
			g.refuse(times(3, everything(503, 1)))
			if verb == "ci" {
				if out, code := p.run("ci", "--port", "0", "--namespace", p.namespace); code != 0 || !strings.Contains(out, "503 Service Unavailable") {
					t.Errorf("exit code %d:\n%s", code, out)
				}
				return
			}
			s := p.up()
			s.says(`Waiting for the cluster: .*503 Service Unavailable`)
			s.ready("web")
		})
	}
}
