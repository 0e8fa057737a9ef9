package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// pair is a project that works on two real clusters: its own, and one that its Tiltfile declares as eu.
type pair struct {
	*project
	eu   *project // sees the other cluster; objects of eu are in its namespace
	wire *wire    // to the other cluster
}

// newPair unpacks a txtar archive, in which $EU stands for the namespace in the other cluster.
func newPair(t *testing.T, archive string) *pair {
	t.Helper()
	eu := newDockerProject(t, "")
	w, kubeconfig := newWireTo(t, os.Getenv(k8stest.DockerKubeconfig))
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	// Both clusters have a user of the same name.
	if err := os.WriteFile(kubeconfig, []byte(strings.ReplaceAll(string(text), "admin", "second")), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &pair{newProject(t, strings.ReplaceAll(archive, "$EU", eu.namespace)), eu, w}
	own := filepath.Join(p.state, "own")
	if text, err = os.ReadFile(os.Getenv("KUBECONFIG")); err != nil {
		t.Fatal(err)
	}
	p.file("own", string(text))
	p.env = append(p.env, "KUBECONFIG="+own+string(os.PathListSeparator)+kubeconfig)
	return p
}

// switches makes the user's current context the other cluster's.
func (p *pair) switches() {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.state, "own"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.file("own", strings.ReplaceAll(string(text), "current-context: hone-dev", "current-context: hone-dev-docker"))
}

// inBoth is a project with the same service in both clusters.
const inBoth = `
-- Tiltfile --
cluster('eu', context='hone-dev-docker', namespace='$EU')
docker_build('web-in-both', 'web', live_update=[sync('web', '/app')])
k8s_yaml('web.yaml')
k8s_yaml('web.yaml', cluster='eu')
k8s_resource('web', port_forwards=['$PORT0:8080'])
k8s_resource('web:eu', port_forwards=['$PORT1:8080'], resource_deps=['web'])
-- web/Dockerfile --
FROM busybox
WORKDIR /app
COPY . .
CMD ["httpd", "-f", "-p", "8080", "-h", "/app"]
-- web/index.html --
one
-- web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: web, image: web-in-both, ports: [{containerPort: 8080}]}]
`

// TestSeveralClusters runs one session on two clusters: a save reaches both, the outage of one holds up only its own resources, commands
// stay in their cluster though the user chooses another context, and a resource moves from one to the other.
func TestSeveralClusters(t *testing.T) {
	t.Parallel()
	p := newPair(t, inBoth)
	s := p.up()
	s.ready("web", "web:eu")
	s.serves(p.ports[0], "/", "one")
	s.serves(p.ports[1], "/", "one")
	s.says(`web │ .*Ready to update web in place`)
	s.says(`web:eu │ .*Ready to update web in place`)
	p.write("web/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	s.serves(p.ports[1], "/", "two")
	if b := s.builds("web:eu", 2); b.Mode != "synclet" {
		t.Errorf("the update in the other cluster went by %s", b.Mode)
	}
	p.says(0, []string{"shell", "web:eu", "--", "cat", "/app/index.html"}, "two")

	// The other cluster does not answer.
	before, other := p.uids([]string{"deployment/web"}), s.builds("web", 2).Serial
	p.wire.cut()
	p.write("web/index.html", "three")
	s.serves(p.ports[0], "/", "three")
	p.replace("web/Dockerfile", "COPY . .", "COPY . .\nENV A=b") // which needs a new image, and a deploy
	s.builds("web", other+2)
	s.ready("web")
	held := func(r api.Resource) bool { return r.Waiting != nil && r.Waiting.Reason == "waiting-for-cluster" }
	if r := s.becomes("web:eu", "waiting for its cluster", held); !strings.Contains(r.Waiting.Text, "cluster eu") {
		t.Errorf("the wait does not name the cluster: %+v", *r.Waiting)
	}
	p.present([]string{"deployment/web"}, before)
	p.wire.join()
	s.builds("web:eu", 4)
	s.ready("web:eu")
	s.serves(p.ports[1], "/", "three")

	// The user chooses another context, and moves the service.
	p.switches()
	p.write("Tiltfile", p.expand(strings.ReplaceAll(`
cluster('eu', context='hone-dev-docker', namespace='$EU')
docker_build('web-in-both', 'web', live_update=[sync('web', '/app')])
k8s_yaml('web.yaml', cluster='eu')
k8s_resource('web', port_forwards=['$PORT0:8080'])
`, "$EU", p.eu.namespace)))
	s.says(`web │ .*Deleting the objects of web, which is in another cluster now`)
	p.absent("deployment/web")
	s.ready("web")
	s.serves(p.ports[0], "/", "three")
	p.eu.present([]string{"deployment/web"}, nil)
	s.stop()
	p.says(0, []string{"down", "--context", "hone-dev", "--namespace", p.namespace}, "Deleted 1 object")
	p.eu.absent("deployment/web")
}

// inTwo is a project with objects in both clusters, some of the same name.
const inTwo = `
-- Tiltfile --
cluster('eu', context='hone-dev-docker', namespace='$EU')
k8s_yaml('map.yaml')
k8s_yaml('map.yaml', cluster='eu')
k8s_yaml('more.yaml', cluster='eu')
k8s_custom_deploy('made', ['kubectl', 'apply', '-n', '$EU', '-o', 'yaml', '-f', 'made.yaml'], ['kubectl', 'delete', '-n', '$EU', '-f', 'made.yaml'], deps=['made.yaml'], cluster='eu')
local_resource('where', 'echo $(kubectl config current-context) sees $(kubectl get configmap -o name)', cluster='eu', resource_deps=['uncategorized:eu'])
-- map.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: same}
data: {k: v}
-- more.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: more}
data: {k: v}
-- made.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: made}
data: {k: v}
`

// TestSeveralClustersVerbs calls each verb on a project in two clusters.
func TestSeveralClustersVerbs(t *testing.T) {
	t.Parallel()
	p := newPair(t, inTwo)
	at := func(args ...string) []string { return append(args, "--namespace", p.namespace) }
	p.says(0, at("preview"), `create +configmap/same in `+p.namespace, `create +configmap/same in `+p.eu.namespace, `create +configmap/more`)
	p.switches() // a command names the cluster, or the session has it
	p.says(0, at("ci", "--context", "hone-dev", "--port", "0"), `hone-dev-docker sees .*configmap/more`)
	own := at
	at = func(args ...string) []string { return append(own(args...), "--context", "hone-dev") }
	p.present([]string{"configmap/same"}, nil)
	p.absent("configmap/more")
	p.absent("configmap/made")
	p.eu.present([]string{"configmap/same", "configmap/more", "configmap/made"}, nil)
	p.says(0, at("preview", "--exit-code"), `\d unchanged`)
	p.says(0, at("get", "records"), `CLUSTER`, `configmap/same +- `, `configmap/same +hone-dev-docker `)

	// Changes of others.
	if _, err := p.eu.dyn.Resource(configMaps).Namespace(p.eu.namespace).Patch(t.Context(), "more", types.MergePatchType, []byte(`{"data":{"k":"theirs"}}`),
		metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	p.says(2, at("drift", "--exit-code"), `more`, `data\.k`)
	p.says(0, at("deploy", "--yes"))
	p.says(0, at("drift", "--exit-code"))

	// What one forgets and adopts.
	p.says(1, []string{"forget", "--yes", "configmap/same", "--context", "hone-dev"}, `names more than one object`, `hone-dev-docker:configmap/same`)
	p.says(0, []string{"forget", "--yes", "hone-dev-docker:configmap/same", "--context", "hone-dev"}, `Forgot`)
	p.says(0, []string{"adopt", "--yes", "hone-dev-docker:configmap/same", "--context", "hone-dev"}, `Adopted`)

	// Objects that the Tiltfile no longer declares.
	p.replace("Tiltfile", "k8s_yaml('more.yaml', cluster='eu')\n", "")
	p.says(0, at("ci", "--no-prune", "--port", "0"))
	p.eu.present([]string{"configmap/more"}, nil)
	p.says(0, at("gc", "--dry-run"), `delete +configmap/more`)
	p.says(0, at("gc", "--yes"))
	p.eu.absent("configmap/more")
	stays := p.untouched("configmap/same")
	p.says(0, at("down", "where", "made"))
	p.eu.absent("configmap/made")
	stays()

	// A cluster that the Tiltfile no longer declares.
	p.write("Tiltfile", "k8s_yaml('map.yaml')\n")
	p.says(0, at("down"), `gave back same:configmap, as it was found`, `Deleted 1 object. Gave back 1 object.`) // it was forgotten, and adopted
	p.absent("configmap/same")
	p.eu.present([]string{"configmap/same"}, nil)
	p.says(0, at("get", "records"), `No records`)
	p.says(0, at("down"), `Nothing to delete`)
}

// TestSeveralClustersReset gives the context of the other cluster to a cluster that has nothing of the project: nothing is taken for the
// project's own there, and nothing is lost in the first.
func TestSeveralClustersReset(t *testing.T) {
	t.Parallel()
	p := newPair(t, inTwo)
	p.write("Tiltfile", fmt.Sprintf("cluster('eu', context='hone-dev-docker', namespace='%s')\nk8s_yaml('map.yaml', cluster='eu')\n", p.eu.namespace))
	p.deploys(0)
	stays := p.eu.untouched("configmap/same")

	other := *p.project
	text, err := os.ReadFile(filepath.Join(p.state, "own"))
	if err != nil {
		t.Fatal(err)
	}
	p.file("reset", strings.ReplaceAll(strings.ReplaceAll(string(text), "hone-dev", "hone-dev-docker"), "admin", "third"))
	other.env = []string{"KUBECONFIG=" + filepath.Join(p.state, "own") + string(os.PathListSeparator) + filepath.Join(p.state, "reset")}
	other.says(0, []string{"get", "records"}, `No records`)
	other.says(0, []string{"down", "--namespace", p.namespace}, `Nothing to delete`)
	stays()
	p.says(0, []string{"down", "--namespace", p.namespace}, `Deleted 1 object`)
	p.eu.absent("configmap/same")
}

// TestSeveralClustersRevisions lists and restores revisions of a project in two clusters: each has its own, and a rollback in one of them
// leaves the other as it is, also if the Tiltfile is broken or the other one does not answer.
func TestSeveralClustersRevisions(t *testing.T) {
	t.Parallel()
	p := newPair(t, `
-- Tiltfile --
cluster('eu', context='hone-dev-docker', namespace='$EU')
k8s_yaml('own.yaml')
k8s_yaml('eu.yaml', cluster='eu')
-- own.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
data: {k: one}
-- eu.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: theirs}
data: {k: one}
`)
	at := func(args ...string) []string { return append(args, "--namespace", p.namespace) }
	value := func(of *project, name string) any {
		t.Helper()
		return of.object("", "v1", "configmaps", name).Object["data"].(map[string]any)["k"]
	}
	p.says(0, at("history"), `No revisions yet: .* in cluster hone-dev\.`)
	p.says(0, at("ci", "--port", "0"))
	p.replace("eu.yaml", "k: one", "k: two")
	p.says(0, at("ci", "--port", "0"))

	p.says(0, at("history"), `(?s)^REVISION[^\n]*\n\ncluster hone-dev\n1 [^\n]*\n\ncluster eu\n2 [^\n]*\n1 [^\n]*\n$`)
	p.says(0, at("history", "-o", "json"), `(?s)^\[\s+\{\s+"number": 1,\s+"run".*"number": 2,\s+"cluster": "hone-dev-docker".*"number": 1,\s+"cluster": "hone-dev-docker"`)
	for _, name := range []string{"eu", "hone-dev-docker"} {
		p.says(0, at("history", "--cluster", name), `(?s)^REVISION[^\n]*\n\ncluster eu\n2 [^\n]*\n1 [^\n]*\n$`)
	}
	p.says(0, at("history", "--cluster", "hone-dev"), `(?s)^REVISION[^\n]*\n1 [^\n]*\n$`)
	p.says(1, at("history", "--cluster", "ue"), `in no cluster "ue"`, `did you mean eu\?`, `hone-dev, eu`)
	p.says(0, at("history", "2"), `Revision 2 in hone-dev-docker: hone ci`, `data\.k: one → two`, `hone-dev-docker: 1 to update`)
	p.says(1, at("history", "1"), `revision 1 in more than one cluster: hone-dev and eu`, `hone history 1 --cluster eu`)
	p.says(1, at("history", "7"), `no revision 7 in cluster hone-dev and cluster eu`)
	p.says(0, at("history", "1", "--cluster", "hone-dev"), `Revision 1: hone ci`, `configmap/own`)

	p.says(1, at("rollback", "1", "--yes"), `hone rollback 1 --cluster eu`)
	stays := p.untouched("configmap/own")
	p.says(0, at("rollback", "1", "--yes", "--cluster", "eu", "--port", "0"), `data\.k: two → one`)
	stays()
	if got := value(p.eu, "theirs"); got != "one" {
		t.Errorf("the rollback in eu left the value %v", got)
	}
	p.says(0, at("history"), `(?s)cluster hone-dev\n1 [^\n]*\n\ncluster eu\n3 [^\n]*rollback 1 [^\n]*\n2 `)

	p.replace("own.yaml", "k: one", "k: two")
	p.says(0, at("ci", "--port", "0")) // which applies both declarations
	stays = p.eu.untouched("configmap/theirs")
	p.says(0, at("rollback", "1", "--yes", "--cluster", "hone-dev", "--port", "0"), `data\.k: two → one`)
	stays()
	p.write("Tiltfile", "k8s_yaml(\n")
	p.wire.cut()
	p.says(1, at("history"), `in cluster eu is left out`, `(?m)^3 .*rollback 1 `)
	p.says(1, at("rollback", "2", "--yes"), `unknown whether eu has a revision 2, too`, `hone rollback 2 --cluster hone-dev`)
	p.says(0, at("rollback", "2", "--yes", "--cluster", "hone-dev", "--port", "0"), `data\.k: one → two`)
	p.wire.join()
	stays()
	if got := value(p.project, "own"); got != "two" {
		t.Errorf("the rollback in its own cluster left the value %v", got)
	}
	p.says(0, at("history", "--cluster", "eu"), `(?m)^4 .* ci `)

	// A session knows the revisions of both.
	p.write("Tiltfile", strings.ReplaceAll("cluster('eu', context='hone-dev-docker', namespace='$EU')\nk8s_yaml('own.yaml')\nk8s_yaml('eu.yaml', cluster='eu')\n", "$EU", p.eu.namespace))
	s := p.up()
	s.ready("uncategorized", "uncategorized:eu")
	s.hone("wait", "--for=jsonpath={.entry.phase}=succeeded", "revisions/context hone-dev-docker 000004", "--timeout=60s")
	s.hone("wait", "--for=jsonpath={.entry.phase}=succeeded", "revisions/000001", "--timeout=60s")
	if doc := string(s.answers("/api/revision?number=2&cluster=hone-dev-docker")); !strings.Contains(doc, `"name":"theirs"`) || !strings.Contains(doc, `"from":"one","to":"two"`) {
		t.Errorf("revision 2 in eu: %s", doc)
	}
	if doc := string(s.answers("/api/revision?number=2")); !strings.Contains(doc, `"name":"own"`) {
		t.Errorf("revision 2: %s", doc)
	}
	s.stop()

	p.write("Tiltfile", "k8s_yaml('own.yaml')\n")
	p.says(1, at("rollback", "1", "--yes", "--cluster", "eu"), `no longer declares cluster eu`, `cluster\('eu', context='hone-dev-docker'\)`)
	p.says(0, at("down"), `Deleted 2 objects`)
	p.absent("configmap/own")
	p.eu.absent("configmap/theirs")
}

// builtThere is a project of the session's own cluster whose image is built in the other one.
var builtThere = `
-- Tiltfile --
cluster('eu', context='hone-dev-docker', namespace='$EU')
builder('kubernetes', image='$IMAGE', cluster='eu', requests={'cpu': '10m'})
docker_build('restarting', 'src', dockerfile='Dockerfile', live_update=[sync('src/app', '/app'), restart_process()])
k8s_yaml('pod.yaml')
k8s_resource('restarting', port_forwards='$PORT0:8080')
-- Dockerfile --
FROM scratch
COPY server /server
COPY app /app
ENTRYPOINT ["/server", "/app/text"]
-- src/app/text --
one
-- pod.yaml --
` + deployment("restarting", `
terminationGracePeriodSeconds: 5
containers:
- {name: main, image: restarting}
`)

// TestBuilderInOtherCluster builds in a declared cluster, and deploys in the session's own, where no builder is: that cluster has the pod and its
// record. No container engine answers.
func TestBuilderInOtherCluster(t *testing.T) {
	t.Parallel()
	p := newPair(t, strings.ReplaceAll(builtThere, "$IMAGE", builderImageName(t)))
	p.compiled()
	p.env = append(p.env, "DOCKER_HOST=unix://"+t.TempDir()+"/dead.sock")
	t.Cleanup(func() { p.run("down", "--builders", "--namespace", p.namespace) })
	there := "namespace " + p.eu.namespace + " of cluster hone-dev-docker"
	at := []string{"--namespace", p.namespace}
	p.says(0, append([]string{"preview"}, at...), "a builder would be started in "+there+": rootless")
	s := p.up()
	s.ready("restarting")
	s.says(`Builder: kubernetes in hone-dev-docker \(kubernetes://` + p.eu.namespace + `\), rootless`)
	s.serves(p.ports[0], "/", "one")
	p.write("src/app/text", "two")
	s.serves(p.ports[0], "/", "two")
	s.stop()
	if own, other := p.builderPods(), p.eu.builderPods(); len(own) != 0 || len(other) != 1 {
		t.Errorf("pods of builders: %v here, %v there", own, other)
	}
	p.says(0, append([]string{"down"}, at...), "The builder in "+there+" stays")
	p.says(0, append([]string{"down", "--builders"}, at...), `Builders of cluster hone-dev-docker: Deleted 1 object`)
	if left := p.eu.builderPods(); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

// TestSeveralClustersState shows, moves and copies the ledgers of a project in two clusters.
func TestSeveralClustersState(t *testing.T) {
	t.Parallel()
	p := newPair(t, inTwo)
	p.write("Tiltfile", fmt.Sprintf("cluster('eu', context='hone-dev-docker', namespace='%s')\nk8s_yaml('map.yaml')\nk8s_yaml(['map.yaml', 'more.yaml'], cluster='eu')\n", p.eu.namespace))
	at := func(args ...string) []string { return append(args, "--namespace", p.namespace) }
	p.says(0, at("ci", "--port", "0"))
	stays, there := p.untouched("configmap/same"), p.eu.untouched("configmap/more")
	p.says(0, at("state", "show"), `(?s)^cluster hone-dev\nLedger .*Records +1 objects of .*Lease +nobody\n\ncluster eu\nLedger .*Records +2 objects of .*Lease +nobody\n$`)
	p.says(0, at("state", "show", "--cluster", "eu"), `(?s)^cluster eu\n.*Records +2 objects of [^\n]*\nRevision +1\nLease +nobody\n$`)
	p.says(0, at("state", "show", "-o", "json"), `(?s)^\{\s+"context": "hone-dev",.*"others": \[\s+\{\s+"context": "hone-dev-docker",`)
	p.says(0, at("state", "unlock"), `^Nobody holds the lease`)

	saved, place := filepath.Join(p.state, "saved"), "file://"+filepath.Join(p.state, "elsewhere")
	p.says(1, at("state", "export", saved), `a ledger in more than one cluster: hone-dev and eu`, `state export \S+saved --cluster eu`)
	p.says(0, at("state", "export", saved, "--cluster", "eu"), `Exported the ledger`)
	p.says(0, at("state", "import", saved), `Imported 2 records of 1 resource into `) // it is there already
	p.wire.cut()
	p.says(1, at("state", "move", place), `nothing was moved: .* eu does not answer`, `--cluster hone-dev`)
	p.says(1, at("state", "show"), `in cluster eu is left out`, `(?m)^Records +1 objects`)
	p.says(1, at("state", "export", filepath.Join(p.state, "more")), `unknown whether eu has a ledger, too`)
	p.wire.join()
	p.says(0, at("state", "move", place), `Moved the ledger of cluster hone-dev to .*elsewhere`, `Moved the ledger of cluster eu to .*elsewhere`)
	p.says(0, at("get", "records"), `No records`)
	moved := func(args ...string) []string { return at(append(args, "--ledger", place)...) }
	p.says(0, moved("history"), `(?s)cluster hone-dev\n1 .*cluster eu\n1 `)
	p.says(0, moved("state", "move", "default", "--cluster", "eu"), `Moved the ledger of cluster eu to `)
	p.says(0, moved("state", "move", "default"), `Moved the ledger of cluster hone-dev to `) // and the other one is there
	stays()
	there()
	p.says(0, at("down"), `Deleted 3 objects`)
}
