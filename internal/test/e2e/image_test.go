package e2e

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func imageOf(u *unstructured.Unstructured) string { return imagesOf(u)[0] }

// imagesOf returns the images of all containers.
func imagesOf(u *unstructured.Unstructured) (out []string) {
	containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
	for _, c := range containers {
		out = append(out, c.(map[string]any)["image"].(string))
	}
	return out
}

// TestImageFeatures builds an image on a base that is also built, with a build arg, a target, a secret and ignore rules,
// and runs it: the pod's log shows the result.
func TestImageFeatures(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
docker_build('app', 'app', build_args={'WHO': 'hone'}, target='final', secret=['id=token,src=token.txt'])
docker_build('base', 'base')
k8s_yaml('job.yaml')
-- token.txt --
s3cr3t
-- base/Dockerfile --
FROM busybox
RUN echo from-base > /base.txt
-- app/Dockerfile --
FROM base AS final
ARG WHO
RUN --mount=type=secret,id=token echo "secret has $(wc -c < /run/secrets/token) bytes" > /secret.txt
RUN echo "arg is $WHO" > /arg.txt
COPY . /src
CMD ["sh", "-c", "cat /base.txt /secret.txt /arg.txt; ls /src"]
FROM final AS other
RUN exit 1
-- app/.dockerignore --
left-out
Dockerfile
-- app/left-out --
-- app/kept --
$NS
-- job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: app}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: app, image: app}]}
`)
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
	for _, want := range []string{"STEP 1/", "Building Dockerfile: [base]", "Building Dockerfile: [app]", "Pushing to local registry localhost:5000",
		"app │ from-base", "app │ secret has 7 bytes", "app │ arg is hone", "app │ kept", "SUCCESS. All workloads are healthy."} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if strings.Contains(out, "app │ left-out") || strings.Contains(out, "s3cr3t") {
		t.Error("an ignored file or a secret came through")
	}
	if strings.Index(out, "dockerfile: [base]") > strings.Index(out, "dockerfile: [app]") {
		t.Error("the base image was not built first")
	}
	if code != 0 || t.Failed() {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestCustomBuild builds with a command of the user.
func TestCustomBuild(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
custom_build('app', 'echo building $EXPECTED_REF; DOCKER_BUILDKIT=0 docker build -q -t $EXPECTED_REF .', deps=['msg'])
k8s_yaml('job.yaml')
-- Dockerfile --
FROM busybox
COPY msg /msg
CMD ["cat", "/msg"]
-- msg --
made to order
-- job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: app}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: app, image: app}]}
`)
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
	if code != 0 || !strings.Contains(out, "app │ made to order") || !strings.Contains(out, "Building Custom Build: [app]") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestBaseOfTheSameRepository builds images whose base has another tag of their own repository: one that the project builds, too, and one
// that it does not.
func TestBaseOfTheSameRepository(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
docker_build('busybox:app', 'app')
docker_build('busybox:base', 'base')
k8s_yaml('job.yaml')
-- base/Dockerfile --
FROM busybox:latest
RUN echo from-base > /base.txt
-- app/Dockerfile --
FROM busybox:base
RUN echo from-app $NS > /app.txt
CMD ["cat", "/base.txt", "/app.txt"]
-- job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: app}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: app, image: 'busybox:app'}]}
`)
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
	for _, want := range []string{"Building Dockerfile: [busybox:base]", "Building Dockerfile: [busybox:app]", "app │ from-base", "app │ from-app", "SUCCESS. All workloads are healthy."} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if code != 0 || t.Failed() {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}
