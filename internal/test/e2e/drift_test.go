package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// driftYAML are objects that others change in the tests.
const driftYAML = `
-- Tiltfile --
k8s_yaml('web.yaml')
k8s_resource('web', objects=['conf:configmap', 'keys:secret', 'robot:serviceaccount'], ignore={'Deployment': '/spec/replicas'})
-- web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: busybox, command: [sleep, '100000'], env: [{name: A, value: mine}]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {key: mine, other: mine}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {word: swordfish}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
`

// TestDriftIsNoticed changes and deletes objects that a session has applied, with common tools: the session shows the changed
// fields, their managers, and the deleted objects, and forgets a change that is undone. Ignored fields, and fields of others, are
// no drift.
func TestDriftIsNoticed(t *testing.T) {
	t.Parallel()
	p := newProject(t, driftYAML)
	s := p.up()
	s.ready("web")
	drifts := func(pattern string) {
		t.Helper()
		re := regexp.MustCompile(pattern)
		s.await("drift like "+pattern, func() error {
			out, _ := p.run("get", "drifts", "-o", "yaml", "--port", fmt.Sprint(s.port))
			if !re.MatchString(out) {
				return fmt.Errorf("it is\n%s", out)
			}
			if strings.Contains(out, "swordfish") || strings.Contains(out, "c3dvcmRmaXNo") {
				t.Fatalf("a value of a Secret:\n%s", out)
			}
			return nil
		})
	}
	none := `(?s)^.*items: \[\]`
	field := func(path, from, to, by string) string {
		return `(?s)at: "?20.*from: ` + from + `\n.*manager: ` + by + `\n.*path: ` + path + `\n.*to: ` + to + `\n`
	}
	drifts(none)

	p.kubectl("scale", "deployment/web", "--replicas=2")
	p.kubectl("annotate", "configmap", "conf", "theirs=1")
	p.kubectl("patch", "configmap", "conf", "-p", `{"data":{"key":"theirs"}}`)
	drifts(field(`data\.key`, "theirs", "mine", "kubectl-patch"))
	out, _ := p.run("get", "drifts", "--port", fmt.Sprint(s.port))
	if !regexp.MustCompile(`(?m)^web +configmap/conf +changed +1 +kubectl-patch `).MatchString(out) {
		t.Errorf("only that is drift:\n%s", out)
	}
	p.kubectl("patch", "configmap", "conf", "-p", `{"data":{"key":"other"}}`)
	drifts(field(`data\.key`, "other", "mine", "kubectl-patch"))
	p.kubectl("patch", "configmap", "conf", "-p", `{"data":{"key":"mine"}}`)
	drifts(none)

	p.kubectl("set", "env", "deployment/web", "A=theirs")
	drifts(field(`spec\.template\.spec\.containers\[name=main\]\.env\[name=A\]\.value`, "theirs", "mine", "kubectl-set"))
	p.kubectl("set", "env", "deployment/web", "A=mine")
	p.kubectl("patch", "configmap", "conf", "--type=json", "-p", `[{"op":"remove","path":"/data/other"}]`)
	drifts(`(?s)path: data\.other\n.*to: mine`)
	p.kubectl("patch", "configmap", "conf", "-p", `{"data":{"other":"mine"}}`)
	p.kubectl("patch", "secret", "keys", "-p", `{"stringData":{"word":"tadpole"}}`)
	drifts(`(?s)masked: true\n.*path: data\.word\n`)
	p.kubectl("patch", "secret", "keys", "-p", `{"stringData":{"word":"swordfish"}}`)
	drifts(none)

	s.hone("pause") // otherwise it is made again at once
	p.kubectl("delete", "serviceaccount", "robot")
	drifts(`what: deleted`)
	p.kubectl("create", "serviceaccount", "robot")
	drifts(`what: made again`)
}

// TestLostLabelComesBack removes the label of hone from objects, one of which is a pod that nothing makes again: it is a drift, and no deletion. A
// restoration puts the label back, and makes nothing again.
func TestLostLabelComesBack(t *testing.T) {
	t.Parallel()
	p := newProject(t, driftYAML+`
-- once.yaml --
apiVersion: v1
kind: Pod
metadata: {name: once}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: busybox, command: [sleep, '100000']}]
`)
	p.replace("Tiltfile", "k8s_yaml('web.yaml')", "k8s_yaml(['web.yaml', 'once.yaml'])")
	s := p.up()
	s.ready("web", "once")
	all := append(p.declares("web.yaml"), p.declares("once.yaml")...)
	before := p.living(all)
	label := deploy.LabelManagedBy
	for _, u := range all {
		p.kubectl("label", u.GetKind()+"/"+u.GetName(), label+"-")
	}
	drifts := func(n int) {
		t.Helper()
		s.await(fmt.Sprintf("%d objects without the label", n), func() error {
			out, _ := p.run("get", "drifts", "-o", "yaml", "--port", fmt.Sprint(s.port))
			if strings.Count(out, `path: metadata.labels["`+label+`"]`) != n {
				return fmt.Errorf("it is\n%s", out)
			}
			return nil
		})
	}
	drifts(len(all))
	s.ready("web", "once")
	if code, answer := s.posts("/api/restore", api.DriftRequest{ManifestNames: []string{"web", "once"}}); code != http.StatusOK {
		t.Fatalf("restore: %d %s", code, answer)
	}
	s.says(`once │ pod/once: its label ` + label + ` was removed: put back`)
	drifts(0)
	s.ready("web", "once")
	s.settled()
	if diff := cmp.Diff(before, p.living(all)); diff != "" {
		t.Errorf("objects were made again (-before +after):\n%s", diff)
	}
	for _, kind := range []string{"deployment/web", "configmap/conf", "pod/once"} {
		if got := p.live(kind).GetLabels()[label]; got != deploy.ManagedByHone {
			t.Errorf("%s has the label %q", kind, got)
		}
	}
}

// TestHUDDrift shows in a terminal that others have changed an object, as a badge and as a diff. One key restores the Tiltfile's
// value. Another key accepts the change: it stays, also for the next session and a preview, until the Tiltfile's own value changes.
func TestHUDDrift(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\nk8s_yaml('conf.yaml')\nk8s_resource(new_name='conf', objects=['conf'])\n-- conf.yaml --\n"+
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {key: mine, other: mine}\n")
	value := func(want string) {
		t.Helper()
		k8stest.Eventually(t, "the value "+want, func() error {
			got, _, _ := unstructured.NestedString(p.live("configmap/conf").Object, "data", "key")
			if got != want {
				return fmt.Errorf("it is %q", got)
			}
			return nil
		})
	}
	change := func(to string) {
		p.kubectl("patch", "configmap", "conf", "-p", `{"data":{"key":"`+to+`"}}`)
	}
	term := p.terminal(120, 34)
	term.keys(binary+" up --port none --namespace "+p.namespace, "Enter")
	term.shows(`✔ conf +1 object applied`)
	term.keys("j")
	term.shows(`▌ ✔ conf`)

	term.keys("U")
	term.shows(`the objects of conf in the cluster are as they were applied last`)
	change("theirs")
	term.shows(`▌ ! conf +≠ changed by kubectl-patch`)
	term.keys("Enter", "4")
	term.shows(`data\.key +kubectl-patch`)
	term.shows(`- applied +mine`)
	term.shows(`\+ cluster +theirs`)
	term.keys("Escape")
	term.shows(`▌ ! conf`)
	term.keys("U")
	value("mine")
	term.shows(`▌ ✔ conf +1 object applied`)

	change("accepted")
	term.shows(`▌ ! conf +≠ changed by kubectl-patch`)
	term.keys("K")
	term.shows(`▌ ✔ conf +1 object applied`)
	value("accepted")
	p.replace("conf.yaml", "other: mine", "other: ours")
	term.shows(`▌ ✔ conf +1 object applied`)
	k8stest.Eventually(t, "the other value", func() error {
		if got, _, _ := unstructured.NestedString(p.live("configmap/conf").Object, "data", "other"); got != "ours" {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
	value("accepted")
	term.keys("C-c")
	term.shows(`Log in`)
	p.says(0, []string{"preview", "--namespace", p.namespace}, `: nothing to do|no changes|unchanged`)
	p.deploys(0)
	value("accepted")
	p.replace("conf.yaml", "key: mine", "key: ours")
	p.deploys(0)
	value("ours")
}

// TestKept: while a session runs, it reverts the changes of others to kept objects, and recreates deleted ones. It gives up on an
// object that is changed again and again.
func TestKept(t *testing.T) {
	t.Parallel()
	p := newProject(t, driftYAML)
	p.write("Tiltfile", "k8s_yaml('web.yaml')\nk8s_resource('web', objects=['conf', 'keys', 'robot'], keep=True)\n")
	s := p.up()
	s.ready("web")
	s.settled()
	uid := p.live("configmap/conf").GetUID()
	becomes := func(what string, is func(*unstructured.Unstructured) bool) {
		t.Helper()
		s.await(what, func() error {
			if u := p.live("configmap/conf"); u == nil || !is(u) {
				return fmt.Errorf("it is %v", u)
			}
			return nil
		})
	}
	key := func(u *unstructured.Unstructured) string {
		v, _, _ := unstructured.NestedString(u.Object, "data", "key")
		return v
	}
	p.kubectl("patch", "configmap", "conf", "-p", `{"data":{"key":"theirs"}}`)
	becomes("the value to be changed back", func(u *unstructured.Unstructured) bool { return key(u) == "mine" && u.GetUID() == uid })
	s.says("Changed By Others")
	p.kubectl("delete", "configmap", "conf")
	becomes("the object to come back", func(u *unstructured.Unstructured) bool { return key(u) == "mine" && u.GetUID() != uid })
	s.settled()
	for i := range 10 { // it is left to others after a few times
		p.kubectl("patch", "configmap", "conf", "-p", fmt.Sprintf(`{"data":{"key":"again%d"}}`, i))
		stays := false
		s.await("the value to be changed back or left", func() error {
			stays = strings.Contains(s.out.String(), "configmap/conf is to be kept, but kubectl-patch changes it again and again")
			if u := p.live("configmap/conf"); u != nil && key(u) == "mine" || stays {
				return nil
			}
			return errors.New("neither")
		})
		if stays {
			return
		}
	}
	t.Error("the two go on forever")
}
