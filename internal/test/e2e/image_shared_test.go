package e2e

import (
	"strings"
	"testing"
)

// TestSharedImages deploys a project to a registry that its Tiltfile names, and then a second clone of it with a state of its own, which
// builds only the image whose inputs differ.
func TestSharedImages(t *testing.T) {
	t.Parallel()
	archive := `
-- Tiltfile --
default_registry('localhost:5000')
docker_build('app', 'app', build_args={'WHO': 'hone'})
docker_build('base', 'base')
k8s_yaml('web.yaml')
-- base/Dockerfile --
FROM busybox
RUN echo $NS > /base.txt
-- app/Dockerfile --
FROM base
ARG WHO
COPY . /src
RUN echo $WHO > /who.txt
CMD ["sleep", "1000"]
-- app/.dockerignore --
left-out
-- app/left-out --
-- app/kept --
1
-- web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: app, image: app}]}
`
	one := newProject(t, archive)
	two := newProject(t, strings.ReplaceAll(archive, "$NS", one.namespace)) // the same content
	deploy := func(p *project, notBuilt ...string) string {
		t.Helper()
		out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, out)
		}
		if n := strings.Count(out, "is not built"); n != len(notBuilt) {
			t.Errorf("%d images are not built, want %q:\n%s", n, notBuilt, out)
		}
		for _, ref := range notBuilt {
			if !strings.Contains(out, "The registry has the image of these inputs: localhost:5000/"+ref+":hone-") {
				t.Errorf("%s was built:\n%s", ref, out)
			}
		}
		return imageOf(p.object("apps", "v1", "deployments", "app"))
	}
	first := deploy(one)
	if second := deploy(two, "base", "app"); second != first {
		t.Errorf("the second clone deploys %s, not %s", second, first)
	}
	two.write("app/left-out", "changed")
	if second := deploy(two, "base", "app"); second != first {
		t.Errorf("after a change that .dockerignore leaves out, it deploys %s, not %s", second, first)
	}
	for _, change := range []struct{ file, old, new string }{
		{"app/kept", "1", "2"},
		{"Tiltfile", "'WHO': 'hone'", "'WHO': 'you'"},
		{"app/.dockerignore", "left-out", "other"},
	} {
		two.replace(change.file, change.old, change.new)
		second := deploy(two, "base")
		if second == first {
			t.Errorf("after a change of %s, it deploys the same image", change.file)
		}
		first = second
	}
}
