package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/folder"
)

const revisionsTiltfile = `
-- Tiltfile --
project('$NS')
k8s_yaml('all.yaml')
local_resource('note', 'echo noted >> notes')
-- all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {key: one}
---
apiVersion: v1
kind: Secret
metadata: {name: token}
stringData: {password: hunter22hunter}
`

// commitAll puts the files of the project under version control, and returns the commit.
func (p *project) commitAll() string {
	p.t.Helper()
	var out []byte
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "all"}, {"rev-parse", "HEAD"}} {
		var err error
		if out, err = exec.Command("git", append([]string{"-C", p.dir}, args...)...).CombinedOutput(); err != nil {
			p.t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	return strings.TrimSpace(string(out))
}

// data returns a value of the ConfigMap conf.
func (p *project) data(key string) any {
	return p.object("", "v1", "configmaps", "conf").Object["data"].(map[string]any)[key]
}

// TestRollback restores the first of three revisions, although the Tiltfile is broken by then.
func TestRollback(t *testing.T) {
	t.Parallel()
	p := newProject(t, revisionsTiltfile)
	commit := p.commitAll()
	p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0"})
	p.replace("all.yaml", "key: one", "key: two")
	p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0"})
	p.says(0, []string{"history", "--namespace", p.namespace}, `(?m)^2 .* `+commit[:10]+`-dirty `, `(?m)^1 .* `+commit[:10]+` `)
	p.says(0, []string{"history", "1", "--namespace", p.namespace}, `Revision 1: hone ci of .*, from Tiltfile \(digest [0-9a-f]{16}\) at commit `+commit+`\n`)
	p.says(0, []string{"history", "2", "-o", "json", "--namespace", p.namespace}, `"commit": "`+commit+`",\s+"uncommitted": true,\s+"tiltfile": "Tiltfile",\s+"digest": "[0-9a-f]{16}"`)
	p.write("all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {key: three}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n"+
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {password: hunter33hunter}\n")
	p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0"})
	notes, err := os.ReadFile(filepath.Join(p.dir, "notes"))
	if err != nil {
		t.Fatal(err)
	}
	p.write("Tiltfile", "project('$NS')\nk8s_yaml(\n")
	p.says(1, []string{"rollback", "9", "--yes", "--namespace", p.namespace}, "there is no revision 9", "1, 2, 3")
	p.says(1, []string{"rollback", "1", "--namespace", p.namespace}, "this is not a terminal")
	p.says(0, []string{"rollback", "1", "--yes", "--namespace", p.namespace, "--port", "0"},
		`- delete  configmap/more`, `~ data\.key: three → one`, `(?i)secret/\S*token keeps its present values`)
	if got := p.data("key"); got != "one" {
		t.Errorf("the rollback left the value %v", got)
	}
	p.gone("", "v1", "configmaps", "more")
	if after, err := os.ReadFile(filepath.Join(p.dir, "notes")); err != nil || string(after) != string(notes) {
		t.Errorf("the rollback ran a local resource: %q, %v", after, err)
	}
	p.says(0, []string{"rollback", "3", "--yes", "--namespace", p.namespace, "--port", "0"}, `\+ create  configmap/more`)
	if got := p.data("key"); got != "three" {
		t.Errorf("back again, the value is %v", got)
	}
	p.says(0, []string{"history", "--namespace", p.namespace}, `(?s)5 .*rollback 3 .*\+1 .*4 .*rollback 1 .*-1 +succeeded.*3 .*ci .*2 .*ci .*1 .*ci .*\+2 ~0 -0 +succeeded`)
	p.says(0, []string{"history", "2", "--namespace", p.namespace}, `~ data\.key: one → two`, `1 to update`)
	p.says(0, []string{"history", "-o", "json", "--namespace", p.namespace}, `"number": 5`, `"command": "rollback 3"`)
	sessionShowsRevisions(p)
	p.says(0, []string{"down", "--namespace", p.namespace}, `Deleted 3 objects`)
	p.says(0, []string{"history", "--namespace", p.namespace}, `7 .* down .* 0 +\+0 ~0 -3 +succeeded`)
}

// sessionShowsRevisions runs a session that applies two evaluations of the Tiltfile. The first one declares what the rollback has restored, and
// writes nothing. It shows a revision for the second one, after the revisions of the commands before it.
func sessionShowsRevisions(p *project) {
	p.t.Helper()
	p.write("Tiltfile", "project('$NS')\nk8s_yaml('all.yaml')\nlocal_resource('note', 'echo noted >> notes')\n")
	s := p.up()
	s.ready("uncategorized")
	p.replace("all.yaml", "key: three", "key: four")
	s.hone("wait", "--for=jsonpath={.entry.phase}=succeeded", "revisions/000006", "--timeout=60s")
	v, err := s.view()
	if err != nil {
		p.t.Fatal(err)
	}
	var got []string
	for _, r := range v.Revisions {
		got = append(got, fmt.Sprintf("%d %s", r.Number, r.Command))
	}
	if diff := cmp.Diff([]string{"6 up", "5 rollback 3", "4 rollback 1", "3 ci", "2 ci", "1 ci"}, got); diff != "" {
		p.t.Errorf("the session's revisions (-want +got):\n%s", diff)
	}
	for number, want := range map[int]string{6: `"from":"three","to":"four"`, 5: `"action":"create"`} {
		if doc := string(s.answers(fmt.Sprint("/api/revision?number=", number))); !strings.Contains(doc, want) || strings.Contains(doc, "hunter") {
			p.t.Errorf("revision %d lacks %s, or shows a secret:\n%s", number, want, doc)
		}
	}
	s.asDeclared()
	s.stop()
}

// TestSharedLedger keeps the ledger in the cluster. Another clone on another machine works on the same records, and its down leaves
// nothing, not even the ledger.
func TestSharedLedger(t *testing.T) {
	t.Parallel()
	p := newProject(t, revisionsTiltfile)
	p.replace("Tiltfile", "project('$NS')", "project('$NS')\nledger_settings(url='kube://$NS')")
	p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0"})
	if names, err := folder.New(filepath.Join(p.state, "hone", "ledger")).List(t.Context(), ""); err != nil || len(names) != 1 { // the down commands
		t.Errorf("records on this machine: %q, %v", names, err)
	}
	list := func(resource, selector string) int {
		t.Helper()
		gvr := schema.GroupVersionResource{Version: "v1", Resource: resource}
		l, err := p.dyn.Resource(gvr).Namespace(p.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			t.Fatal(err)
		}
		return len(l.Items)
	}
	if list("configmaps", storage.PartOf) != 1 || list("secrets", storage.PartOf) != 1 || list("secrets", "applyset.kubernetes.io/id") != 1 {
		t.Error("the objects are no members of an ApplySet")
	}
	first := *p // the second clone has another folder and another home
	p.dir, p.state = t.TempDir(), t.TempDir()
	p.unpack(revisionsTiltfile)
	p.replace("Tiltfile", "project('$NS')", "project('$NS')\nledger_settings(url='kube://$NS')")
	p.says(0, []string{"preview", "--namespace", p.namespace, "note"}, `1 to run`)
	p.says(0, []string{"preview", "--namespace", p.namespace, "uncategorized", "--exit-code"}, `: 2 unchanged`)
	p.replace("all.yaml", "key: one", "key: two")
	p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0"})
	first.says(0, []string{"rollback", "1", "--yes", "--namespace", p.namespace, "--port", "0"}, `~ data\.key: two → one`)
	p.says(0, []string{"down", "--namespace", p.namespace}, `Deleted 2 objects`)
	if n := list("secrets", ""); n != 0 {
		t.Errorf("%d Secrets are left", n)
	}
	p.gone("", "v1", "configmaps", "conf")
}

// TestKeep looks at the records of a project, and moves objects and records to and fro: without a session, and beside one.
func TestKeep(t *testing.T) {
	t.Parallel()
	p := newProject(t, revisionsTiltfile)
	p.says(0, []string{"get", "records"}, `No records: hone has applied nothing`)
	p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0"})
	p.replace("all.yaml", "key: one", "key: two")
	p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0"})
	p.says(0, []string{"get", "records"}, `configmap/conf +`+p.namespace+` +uncategorized +applied +2 `, `secret/token +`+p.namespace+` +uncategorized +applied +1 `)
	p.says(0, []string{"get", "records", "-o", "name"}, `^configmap/conf\nsecret/token\n$`)
	p.says(0, []string{"get", "records", "configmap/conf", "-o", "json"}, `"state": "applied"`, `"revision": 2`)
	p.says(0, []string{"get", "records", "-o", "wide"}, `UID\n`)
	p.says(1, []string{"get", "records", "configmap/cnof"}, `configmap/cnof is not recorded for this project`, `did you mean configmap/conf\?`)
	const more = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {a: '1', b: '2'}\n"
	p.write("more.yaml", more)
	p.kubectl("apply", "-f", filepath.Join(p.dir, "more.yaml"))
	p.says(1, []string{"adopt", "configmap/more", "--yes", "--namespace", p.namespace}, `configmap/more in namespace \S+ is not declared by the Tiltfile`)
	p.replace("Tiltfile", "'all.yaml'", "['all.yaml', 'more.yaml']")
	p.says(1, []string{"ci", "--namespace", p.namespace, "--port", "0"}, `configmap/more exists already`)
	p.says(0, []string{"adopt", "configmap/more", "--dry-run", "--namespace", p.namespace}, `(?s)adopt +configmap/more.*kubectl-client-side-apply.*it stays as it is until it is applied`)
	p.says(0, []string{"adopt", "configmap/more", "--yes", "--namespace", p.namespace}, `Adopted configmap/more, unchanged`)
	p.says(0, []string{"adopt", "configmap/more", "--yes", "--namespace", p.namespace}, `the project has configmap/more already`)
	p.says(0, []string{"get", "records", "configmap/more"}, `uncategorized +adopted +`)
	p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0"})
	p.replace("more.yaml", "a: '1', b: '2'", "a: '1'")
	p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0"})
	if got := p.object("", "v1", "configmaps", "more").Object["data"].(map[string]any); len(got) != 1 {
		t.Errorf("a field has left the declaration of an adopted object, and it has %v", got)
	}
	p.says(1, []string{"forget", "configmap/cnof", "--yes"}, `configmap/cnof is not recorded for this project`, `did you mean configmap/conf\?`)
	p.says(1, []string{"forget", "secret/token", "--namespace", p.namespace}, `this is not a terminal`)
	p.says(0, []string{"forget", "secret/token", "--dry-run", "--namespace", p.namespace}, `(?s)orphan +secret/token in `+p.namespace+`.*it stays as it is, and hone forgets it`)
	p.says(0, []string{"get", "records"}, `secret/token `)
	p.says(0, []string{"forget", "secret/token", "--yes", "--namespace", p.namespace}, `leaves and forgets`, `Forgot secret/token`, `the next deploy refuses them`)
	if token := p.object("", "v1", "secrets", "token"); len(token.GetLabels())+len(token.GetAnnotations()) > 0 || token.Object["data"].(map[string]any)["password"] == nil {
		t.Errorf("forgotten, it is %v", token.Object["metadata"])
	}
	p.says(1, []string{"ci", "--namespace", p.namespace, "--port", "0"}, `secret/token exists already`)
	place := "kube://" + p.namespace
	shared := []string{"--namespace", p.namespace, "--ledger", place}
	p.says(0, []string{"state", "export", filepath.Join(p.dir, "saved"), "--namespace", p.namespace}, `Exported the ledger`)
	p.says(1, []string{"state", "export", filepath.Join(p.dir, "saved"), "--namespace", p.namespace}, `exists already`)
	p.says(1, []string{"state", "import", filepath.Join(p.dir, "Tiltfile"), "--namespace", p.namespace}, `not an exported ledger`)
	p.says(0, []string{"state", "move", place, "--namespace", p.namespace}, `Moved the ledger to kube://`, `ledger_settings\(url='kube://`)
	p.says(0, append([]string{"get", "records", "-o", "name"}, shared...), `^configmap/conf\nconfigmap/more\nsecret/token\n$`)
	p.says(0, append([]string{"history"}, shared...), `(?s)forget .*-0 \(1 forgotten\) +succeeded.*adopt .*~1 -0 +succeeded.*ci `)
	p.says(0, append([]string{"state", "import", filepath.Join(p.dir, "saved")}, shared...), `Imported 3 records of 1 resource into kube://`) // it is there already
	p.says(0, append([]string{"state", "move", "default"}, shared...), `Moved the ledger to /`)
	if list, err := p.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(p.namespace).List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 1 {
		t.Errorf("moved away, and the namespace has %d Secrets, %v", len(list.Items), err)
	}
	s := p.up("--adopt")
	s.settled()
	p.says(1, []string{"state", "move", place, "--namespace", p.namespace}, `works on this project`, `hone stop`)
	p.says(0, []string{"get", "records"}, `secret/token +`+p.namespace+` +uncategorized +adopted +`)
	p.says(0, []string{"forget", "configmap/conf", "--yes", "--namespace", p.namespace}, `Forgot configmap/conf`, `works on this project. If its Tiltfile still declares them, its next update of uncategorized`)
	p.says(0, []string{"get", "records", "-o", "name"}, `^configmap/more\nsecret/token\n$`)
	s.hone("trigger", "uncategorized")
	s.await("the object is adopted again", func() error {
		if out, _ := p.run("get", "records", "configmap/conf"); !strings.Contains(out, "adopted") {
			return errors.New(out)
		}
		return nil
	})
	p.says(0, []string{"get", "records"}, `configmap/conf +`+p.namespace+` +uncategorized +adopted +`)
	s.stop()
	p.says(0, []string{"down", "--namespace", p.namespace}, `Gave back 3 objects`)
	if got := p.object("", "v1", "configmaps", "more").Object["data"].(map[string]any); got["b"] != "2" {
		t.Errorf("given back, the adopted object has %v", got)
	}
	p.says(0, []string{"get", "records"}, `No records: hone has applied nothing`)
}

// TestLargeLedgerInCluster keeps the records of 400 objects with 3 MB of manifests in the cluster (V20): each document of the ledger is
// below the limit of 1 MiB, and another clone sees that nothing differs.
func TestLargeLedgerInCluster(t *testing.T) {
	t.Parallel()
	const n = 400
	random := rand.New(rand.NewPCG(1, 1))
	var all strings.Builder
	for i := range n {
		var value []byte
		for len(value) < 7500 {
			value = strconv.AppendUint(value, random.Uint64(), 36) // which hardly compresses
		}
		fmt.Fprintf(&all, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf-%d}\ndata: {key: %s}\n---\n", i, value)
	}
	files := "-- Tiltfile --\nproject('$NS')\nledger_settings(url='kube://$NS')\nk8s_yaml('all.yaml')\n-- all.yaml --\n" + all.String()
	p := newProject(t, files)
	p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0"}, `SUCCESS`)
	list, err := p.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(p.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, u := range list.Items {
		size := len(fmt.Sprint(u.Object["data"])) / 4 * 3 // the API server stores what the base64 says
		if total += size; size >= 1<<20 {
			t.Errorf("Secret %s has %d bytes", u.GetName(), size)
		}
	}
	if total < 1<<20 {
		t.Errorf("the ledger has only %d bytes", total)
	}
	p.dir, p.state = t.TempDir(), t.TempDir()
	p.unpack(files)
	began := time.Now()
	p.says(0, []string{"preview", "--namespace", p.namespace, "--exit-code"}, fmt.Sprintf(`: %d unchanged`, n))
	t.Logf("a preview took %s", time.Since(began).Round(time.Millisecond))
	p.says(0, []string{"down", "--namespace", p.namespace}, fmt.Sprintf(`Deleted %d objects`, n))
}
