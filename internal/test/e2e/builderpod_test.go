package e2e

import (
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// builderImage is the environment variable for the image of BuildKit that scripts/buildkit/image prints.
const builderImage = "HONE_TEST_BUILDKIT_IMAGE"

// inCluster is a project that is built in the cluster. Its image has two stages, which take their base from the test's registry.
const inCluster = `
-- Tiltfile --
builder('kubernetes', image='$IMAGE', requests={'cpu': '10m'}, config='buildkitd.toml')
docker_build('app-$NS', 'app', live_update=[sync('app/text', '/src/text')])
k8s_yaml('app.yaml')
-- buildkitd.toml --
[registry."docker.io"]
  mirrors = ["$REGISTRY"]
[registry."$REGISTRY"]
  http = true
-- app/Dockerfile --
FROM busybox AS made
RUN --mount=type=cache,target=/c echo made > /made.txt; echo 0; sleep 0
FROM busybox
COPY --from=made /made.txt /
COPY text /src/
CMD ["sh", "-c", "cat /made.txt /src/text; exec sleep 1000"]
-- app/text --
one
-- app.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: $NS}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: web, image: app-$NS}]}
`

// newInCluster returns such a project. No container engine answers it.
func newInCluster(t *testing.T) *project {
	t.Helper()
	buildkittest.Busybox(t)
	return newNoEngine(t, strings.ReplaceAll(inCluster, "$REGISTRY", registryForPods(t)), newProject)
}

// builderImageName returns the image of BuildKit for the test cluster.
func builderImageName(t *testing.T) string {
	t.Helper()
	image := os.Getenv(builderImage)
	if image == "" {
		t.Skip("BuildKit's image is not there: scripts/buildkit/image makes it, and " + builderImage + " names it")
	}
	return image
}

// podsReach is an address of the test cluster's machine that only the machine and its pods reach. The cluster's DNS has it.
const podsReach = "169.254.20.10"

// registryForPods makes the registry of the test cluster answer pods, and returns its address for them.
func registryForPods(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", podsReach+":0")
	if err != nil {
		t.Skipf("no address for pods: %v", err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { relay(from) })
		}
	})
	return l.Addr().String()
}

// relay connects a connection to the registry until one side ends.
func relay(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", buildkittest.Registry)
	if err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { _, _ = io.Copy(from, to); _ = from.Close() })
	_, _ = io.Copy(to, from)
	_ = to.Close()
	back.Wait()
}

// builderPods returns the names of the pods of the project's builders.
func (p *project) builderPods() []string {
	return p.ofBuilders(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
}

// ofBuilders returns the names of the objects of a kind that belong to builders.
func (p *project) ofBuilders(kind schema.GroupVersionResource) []string {
	p.t.Helper()
	return p.named(kind, "hone-builder")
}

// named returns the names of the objects of a kind in the project's namespace that begin so.
func (p *project) named(kind schema.GroupVersionResource, begin string) (names []string) {
	p.t.Helper()
	list, err := p.dyn.Resource(kind).Namespace(p.namespace).List(p.t.Context(), metav1.ListOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, o := range list.Items {
		if strings.HasPrefix(o.GetName(), begin) {
			names = append(names, o.GetName())
		}
	}
	return names
}

// The kinds of a builder's objects in these tests.
var (
	builderDeployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	builderConfigs     = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// TestBuilderInCluster builds with no container engine: the cluster runs the builder without rights on its node. The next run finds it. It
// stays until it is asked for.
func TestBuilderInCluster(t *testing.T) {
	t.Parallel()
	p := newInCluster(t)
	if out, code := p.run("preview", "--namespace", p.namespace); code != 0 || !strings.Contains(out, "a builder would be started in namespace "+p.namespace+": rootless") || len(p.builderPods()) > 0 {
		t.Errorf("preview: %d, pods of a builder: %v\n%s", code, p.builderPods(), out)
	}
	r := p.ci("--timeout", "5m")
	r.ended(0, "ok", "(Tiltfile): ok", "app: ok")
	if !strings.Contains(r.stderr, "Builder: kubernetes (kubernetes://"+p.namespace+"), rootless (user namespace: node ") || strings.Contains(r.stderr, "dead.sock") {
		t.Errorf("standard error:\n%s", r.stderr)
	}
	image, first := p.imageOfApp(), p.builderPods()
	if out, code := p.run("preview", "--exit-code"); code != 0 {
		t.Errorf("preview of what is deployed: %d\n%s", code, out)
	}
	p.write("app/text", "two\n")
	tried := p.tried("app-" + p.namespace)
	r = p.ci("--timeout", "5m")
	r.ended(0, "ok", "(Tiltfile): ok", "app: ok")
	p.deployed(tried["app-"+p.namespace])
	if now := p.imageOfApp(); now == image || !regexp.MustCompile(`RUN .*\[cached\]`).MatchString(r.stderr) {
		t.Errorf("after an edit the image is %s, and was %s:\n%s", now, image, r.stderr)
	}
	if now := p.builderPods(); len(now) != 1 || now[0] != first[0] {
		t.Errorf("pods of the builder: %v, then %v", first, now)
	}
	spec, _, err := unstructured.NestedMap(p.object("apps", "v1", "deployments", p.ofBuilders(builderDeployments)[0]).Object, "spec", "template", "spec")
	if text := fmt.Sprint(spec); err != nil || strings.Contains(text, "privileged:true") || !strings.Contains(text, "runAsUser:1000") {
		t.Errorf("the builder's pod: %v, %v", spec, err)
	}
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 || !strings.Contains(out, "hone down --builders deletes it") || len(p.builderPods()) != 1 {
		t.Errorf("down: %d\n%s", code, out)
	}
	if out, code := p.run("down", "--builders", "--namespace", p.namespace); code != 0 || !strings.Contains(out, "Builders: Deleted 2 objects.") || len(p.builderPods()) != 0 {
		t.Errorf("down --builders: %d\n%s", code, out)
	}
	if left := append(p.ofBuilders(builderDeployments), p.ofBuilders(builderConfigs)...); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestBuildersOfOneNamespace runs two projects in a namespace whose builders differ: neither takes the pod from the other. Both go together.
func TestBuildersOfOneNamespace(t *testing.T) {
	t.Parallel()
	p := newInCluster(t)
	p.ci("--timeout", "5m").ended(0, "ok", "(Tiltfile): ok", "app: ok")
	first := p.builderPods()
	p.replace("Tiltfile", "'cpu': '10m'", "'cpu': '11m'") // as in the Tiltfile of another project
	p.write("app/text", "two\n")
	p.ci("--timeout", "5m").ended(0, "ok", "(Tiltfile): ok", "app: ok")
	both := p.builderPods()
	if len(first) != 1 || len(both) != 2 || !slices.Contains(both, first[0]) {
		t.Errorf("pods of the builders: %v, then %v", first, both)
	}
	if out, code := p.run("down", "--builders", "--namespace", p.namespace); code != 0 || len(p.builderPods())+len(p.ofBuilders(builderDeployments)) > 0 {
		t.Errorf("down --builders: %d, left %v, %v\n%s", code, p.builderPods(), p.ofBuilders(builderDeployments), out)
	}
}

// TestBuilderPodGoes deletes the pod of the builder while it builds, again and again: the build is made at the next pod.
func TestBuilderPodGoes(t *testing.T) {
	t.Parallel()
	p := newInCluster(t)
	s := p.up()
	s.ready("app")
	rounds := 5
	if testing.Short() {
		rounds = 1
	}
	step := "echo 0; sleep 0"
	for i := range rounds {
		before := p.builderPods()
		next := fmt.Sprintf("echo %d; sleep 3", i+1)
		p.replace("app/Dockerfile", step, next)
		step = next
		s.says("RUN .*" + step)
		for _, pod := range before {
			p.kubectl("delete", "pod", pod, "--wait=false", "--grace-period=0", "--force")
		}
		s.says("RUN .*" + step + `.*\[done`)
		s.ready("app")
		if now := p.builderPods(); slices.ContainsFunc(before, func(pod string) bool { return slices.Contains(now, pod) }) {
			t.Errorf("round %d: the pods of the builder are %v, and were %v", i, now, before)
		}
	}
	if b := s.builds("app", 1); b.Error != "" {
		t.Errorf("newest build: %+v", b)
	}
}

// TestBuilderBases builds an image on the base of another one with no registry: the base is at the builder, or in the node.
func TestBuilderBases(t *testing.T) {
	t.Parallel()
	p := newInCluster(t)
	p.replace("Tiltfile", "docker_build('app-", "docker_build('base-"+p.namespace+"', 'base')\ndocker_build('app-")
	p.replace("app/Dockerfile", "FROM busybox\nCOPY --from=made /made.txt", "FROM base-"+p.namespace+"\nRUN cat /base.txt\nCOPY --from=made /made.txt")
	p.replace("app/Dockerfile", "cat /made.txt", "cat /base.txt /made.txt")
	p.write("base/Dockerfile", "FROM busybox\nCOPY base.txt /\n")
	p.write("base/base.txt", "first base\n")
	s := p.up()
	s.ready("app")
	s.says("first base")
	image := p.imageOfApp()

	p.write("base/base.txt", "second base\n")
	s.says("second base")
	s.ready("app")
	if now := p.imageOfApp(); now == image {
		t.Errorf("after a change of the base, the image is still %s", now)
	}

	for _, pod := range p.builderPods() { // its cache goes with it
		p.kubectl("delete", "pod", pod, "--grace-period=0", "--force")
	}
	p.replace("app/Dockerfile", "echo 0;", "echo again;")
	s.says("RUN .*echo again.*\\[done")
	s.ready("app")
	if b := s.builds("app", 1); b.Error != "" {
		t.Errorf("newest build: %+v", b)
	}
}

// TestBuilderRefused names each way that the cluster does not admit, and leaves nothing.
func TestBuilderRefused(t *testing.T) {
	t.Parallel()
	p := newInCluster(t)
	p.kubectl("label", "namespace", p.namespace, "pod-security.kubernetes.io/enforce=restricted")
	r := p.ci("--timeout", "20s")
	for _, want := range []string{"the cluster does not let BuildKit run in namespace " + p.namespace, "user namespace: node ", `rootless: violates PodSecurity "restricted:latest"`, `builder("kubernetes", privileged=True)`} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("standard error lacks %q:\n%s", want, r.stderr)
		}
	}
	if r.code == 0 {
		t.Error("it succeeds")
	}
	if left := p.ofBuilders(builderDeployments); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestBuilderNeverStarts runs a builder that no node takes. The session names the builder that it waits for, and ends when its time is up.
func TestBuilderNeverStarts(t *testing.T) {
	t.Parallel()
	p := newInCluster(t)
	p.replace("Tiltfile", "requests=", "node_selector={'hone.dev/none': 'yes'}, requests=")
	r := p.ci("--timeout", "15s")
	if r.code == 0 || r.took > patience || strings.Contains(r.stderr, "answers nothing") {
		t.Errorf("code %d after %s:\n%s", r.code, r.took, r.stderr)
	}
	if want := "waits for the builder kubernetes (kubernetes://" + p.namespace + ") to answer"; !strings.Contains(r.stderr, want) {
		t.Errorf("standard error lacks %q:\n%s", want, r.stderr)
	}
}

// twoImages are images whose homes, of two pods, are the first one and the second one.
var twoImages = []string{"hone-test-home-a", "hone-test-home-b"}

// newTwoImages returns a project of two resources, each with one of these images.
func newTwoImages(t *testing.T) *project {
	t.Helper()
	p := newInCluster(t)
	tiltfile := "builder('kubernetes', image='" + builderImageName(t) + "', replicas=2, requests={'cpu': '10m'}, config='buildkitd.toml')\n"
	for i, image := range twoImages {
		app := fmt.Sprintf("app%d", i)
		tiltfile += fmt.Sprintf("docker_build('%s', '%s')\nk8s_yaml('%[2]s.yaml')\n", image, app)
		p.write(app+"/Dockerfile", "FROM busybox\nRUN echo "+app+"-$NS > /made.txt; echo 0; sleep 0\nCOPY text /\nCMD [\"sleep\", \"1000\"]\n")
		p.write(app+"/text", "one\n")
		p.write(app+".yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: "+app+", namespace: $NS}\nspec:\n  selector: {matchLabels: {app: "+app+"}}\n"+
			"  template:\n    metadata: {labels: {app: "+app+"}}\n    spec: {terminationGracePeriodSeconds: 0, containers: [{name: web, image: "+image+"}]}\n")
	}
	p.write("Tiltfile", tiltfile)
	return p
}

// TestBuilderReplicas builds two images at two pods. When the pod of one is deleted in the middle of a build, the image is built once more, at
// the other pod or at the next one of its own. All pods go together.
func TestBuilderReplicas(t *testing.T) {
	t.Parallel()
	p := newTwoImages(t)
	if out, code := p.run("preview", "--namespace", p.namespace); code != 0 || !strings.Contains(out, "2 builders would be started in namespace "+p.namespace+": rootless") {
		t.Errorf("preview: %d\n%s", code, out)
	}
	s := p.up()
	s.ready("app0", "app1")
	homes := p.ofBuilders(builderDeployments)
	if len(homes) != 2 || homes[1] != homes[0]+"-1" {
		t.Fatalf("the Deployments are %v", homes)
	}
	for i, home := range homes { // the first builds may have been earlier than a pod
		app := fmt.Sprintf("app%d", i)
		p.replace(app+"/Dockerfile", "echo 0; sleep 0", "echo "+app+" 1; sleep 0")
		s.says(`RUN .*echo ` + app + ` 1;.*\[done`)
		s.says(fmt.Sprintf(`%s .*Building at kubernetes \(kubernetes://%s/%s\), rootless`, app, p.namespace, home))
	}
	s.ready("app0", "app1")

	p.replace("app1/Dockerfile", "echo app1 1; sleep 0", "echo app1 2; sleep 3")
	s.says("RUN .*echo app1 2;")
	for _, pod := range p.builderPods() {
		if strings.HasPrefix(pod, homes[1]+"-") {
			p.kubectl("delete", "pod", pod, "--wait=false", "--grace-period=0", "--force")
		}
	}
	s.says(`RUN .*echo app1 2;.*\[done`)
	s.ready("app1")
	if b := s.builds("app1", 1); b.Error != "" {
		t.Errorf("newest build: %+v", b)
	}
	if done := regexp.MustCompile(`RUN .*echo app1 2;.*\[done`).FindAllString(s.out.String(), -1); len(done) != 1 {
		t.Errorf("it is built %d times: %q", len(done), done)
	}
	s.stop()

	if out, _ := p.run("doctor", "--namespace", p.namespace); !strings.Contains(out, homes[0]+" ") || !strings.Contains(out, homes[1]+" ") {
		t.Errorf("doctor:\n%s", out)
	}
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 || !strings.Contains(out, "The 2 builders in namespace "+p.namespace+" stay") || len(p.builderPods()) != 2 {
		t.Errorf("down: %d\n%s", code, out)
	}
	if out, code := p.run("down", "--builders", "--namespace", p.namespace); code != 0 || !strings.Contains(out, "Builders: Deleted 4 objects.") || len(p.builderPods()) != 0 {
		t.Errorf("down --builders: %d\n%s", code, out)
	}
}

// rootlessUser is the user of BuildKit's rootless images.
const rootlessUser = 1000

// TestBuilderVolume keeps the cache of each pod on a volume of its own. A pod is deleted, and the next one has the cache.
func TestBuilderVolume(t *testing.T) {
	t.Parallel()
	dirs := []string{t.TempDir(), t.TempDir()}
	p := newTwoImages(t)
	p.replace("Tiltfile", "replicas=2,", "replicas=2, storage='1Gi', storage_class='"+p.namespace+"',")
	volumes := ""
	for i, dir := range dirs {
		if err := os.Chown(dir, rootlessUser, rootlessUser); err != nil {
			t.Skipf("the volumes cannot belong to the daemon's user: %v", err)
		}
		volumes += fmt.Sprintf("---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: $NS-%d}\nspec: {storageClassName: $NS, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce],"+
			" persistentVolumeReclaimPolicy: Retain, hostPath: {path: %s}}\n", i, dir)
	}
	p.write("volumes.yaml", volumes)
	p.kubectl("apply", "-f", "volumes.yaml")
	t.Cleanup(func() {
		p.run("down", "--builders", "--namespace", p.namespace)
		p.kubectl("delete", "-f", "volumes.yaml", "--wait=false")
	})
	p.ci("--timeout", "2m").ended(0, "ok", "(Tiltfile): ok", "app0: ok", "app1: ok")
	homes := p.ofBuilders(builderDeployments)
	claims := p.ofBuilders(schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"})
	if !slices.Equal(claims, homes) || len(claims) != 2 {
		t.Errorf("the claims are %v, and the Deployments %v", claims, homes)
	}
	for _, pod := range p.builderPods() {
		p.kubectl("delete", "pod", pod, "--grace-period=1")
	}
	for i := range homes {
		p.write(fmt.Sprintf("app%d/text", i), "two\n")
	}
	r := p.ci("--timeout", "2m")
	r.ended(0, "ok", "(Tiltfile): ok", "app0: ok", "app1: ok")
	if cached := regexp.MustCompile(`RUN .*\[cached\]`).FindAllString(r.stderr, -1); len(cached) != 2 {
		t.Errorf("the cache had %q:\n%s", cached, r.stderr)
	}
	if out, code := p.run("down", "--builders", "--namespace", p.namespace); code != 0 || !strings.Contains(out, "Builders: Deleted 6 objects.") {
		t.Errorf("down --builders: %d\n%s", code, out)
	}
}

// TestBuilderPlatforms runs a builder for each of two platforms, one of which no node has. Images of the other one are built meanwhile, also if only one update may run at a time. The parts of an image that one builder makes for both are joined.
func TestBuilderPlatforms(t *testing.T) {
	t.Parallel()
	p := newTwoImages(t)
	here := "linux/" + runtime.GOARCH
	p.replace("Tiltfile", "replicas=2,", "platforms=['"+here+"'],")
	p.replace("Tiltfile", "docker_build('"+twoImages[1]+"', 'app1'", "docker_build('"+twoImages[1]+"', 'app1', platform='linux/amd64,linux/arm64'")
	busybox := "FROM --platform=" + here + " busybox AS made\n" // runs on any node, whatever it is for
	p.replace("app1/Dockerfile", "FROM busybox\n", busybox)
	p.replace("app1/Dockerfile", "COPY text /\n", "FROM scratch\nCOPY --from=made / /\nCOPY text /\n")
	p.ci("--timeout", "2m").ended(0, "ok", "(Tiltfile): ok", "app0: ok", "app1: ok")
	is := p.ofBuilders(builderDeployments)
	nodes, _, err := unstructured.NestedStringMap(p.object("apps", "v1", "deployments", is[0]).Object, "spec", "template", "spec", "nodeSelector")
	if want := map[string]string{model.NodeOS: "linux", model.NodeArch: runtime.GOARCH}; err != nil || !maps.Equal(nodes, want) || len(is) != 1 {
		t.Errorf("the Deployments are %v, on nodes with %v, %v", is, nodes, err)
	}
	p.replace("Tiltfile", "builder('kubernetes', ", "update_settings(max_parallel_updates=1)\nbuilder('kubernetes', ")
	p.replace("Tiltfile", "platforms=['"+here+"'],", "platforms=['"+here+"', 'linux/riscv64'],")
	p.replace("Tiltfile", "platform='linux/amd64,linux/arm64'", "platform='linux/riscv64'")
	p.write("app0/text", "two\n")
	p.write("app1/text", "two\n")
	s := p.up()
	s.says(`app1 .*Waiting for riscv64: the builder kubernetes \(kubernetes://` + p.namespace + `/hone-builder-.*\) is starting: .*, Pending: .*nodes`)
	s.ready("app0")
	s.says(`app0 .*Building at kubernetes \(kubernetes://` + p.namespace + "/" + is[0] + `\)`)
	waits := regexp.MustCompile("^waiting for riscv64: .*Pending: ")
	s.becomes("app1", "waiting for a node", func(r api.Resource) bool {
		now := r.CurrentBuild
		return now != nil && now.Progress != nil && waits.MatchString(now.Progress.Waits)
	})
	p.write("app0/text", "three\n") // the only slot is free
	s.builds("app0", 2)
	if out, _ := p.run("doctor", "--namespace", p.namespace); !strings.Contains(out, "for "+runtime.GOARCH+", on node ") || !strings.Contains(out, "for riscv64, not ready: Pending: ") {
		t.Errorf("doctor:\n%s", out)
	}
}
