package deploy

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// settingsYAML is a ConfigMap with a value.
func settingsYAML(name, value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {value: '" + value + "'}\n"
}

const (
	dbService   = "apiVersion: v1\nkind: Service\nmetadata: {name: db}\nspec: {selector: {app: db}, ports: [{port: 5432}]}\n"
	clusterIP   = "$(hone.ref:service/db:spec.clusterIP)"
	servicePort = "$(hone.ref:Service/db:spec.ports[0].port)"
)

// TestFill replaces references in values of each type.
func TestFill(t *testing.T) {
	ref := func(path string) model.FieldRef { return model.FieldRef{Kind: "service", Name: "db", Path: path} }
	values := map[model.FieldRef]any{ref("ip"): "10.0.0.1", ref("port"): int64(80), ref("on"): true}
	ip, port, on, later := ref("ip").Token(), ref("port").Token(), ref("on").Token(), ref("later").Token()
	got := fill(map[string]any{
		"whole": ip, "number": port, "bool": on, "within": "http://" + ip + ":" + port, "unknown": later, "partly": ip + later,
		"data": map[string]any{"port": port}, "env": []any{map[string]any{"name": "P", "value": port}}, "args": []any{"-p", port, on},
		"list": []any{port, int64(1), nil},
	}, false, values)
	want := map[string]any{
		"whole": "10.0.0.1", "number": int64(80), "bool": true, "within": "http://10.0.0.1:80", "unknown": later, "partly": "10.0.0.1" + later,
		"data": map[string]any{"port": "80"}, "env": []any{map[string]any{"name": "P", "value": "80"}}, "args": []any{"-p", "80", "true"},
		"list": []any{int64(80), int64(1), nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRealFieldRefs applies objects that refer to fields of others.
func TestRealFieldRefs(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	plan := func(text string) string {
		t.Helper()
		steps, err := NewApplier(c.dyn, c.mapper).Preview(t.Context(), PreviewRequest{Project: "project1", Namespace: c.namespace,
			Declared: []Declared{{Resource: "web", Objects: c.inject(t, text)}}})
		if err != nil {
			t.Fatal(err)
		}
		return stepsText(steps)
	}
	// A ConfigMap would be applied before a Service: the reference turns that round.
	second := "apiVersion: v1\nkind: Service\nmetadata: {name: front}\nspec: {selector: {app: front}, ports: [{port: '" + servicePort + "'}]}\n"
	all := settingsYAML("conf", clusterIP+":"+servicePort) + "---\n" + second + "---\n" + dbService
	want := "create service/db\ncreate configmap/conf: spec.clusterIP of service/db, spec.ports[0].port of Service/db are known after apply\n" +
		"create service/front: spec.ports[0].port of Service/db is known after apply; only then can the API server check the object"
	if diff := cmp.Diff(want, plan(all)); diff != "" {
		t.Errorf("the first plan (-want +got):\n%s", diff)
	}
	objects := c.inject(t, all)
	c.mustApply(t, objects)
	ip, _, _ := unstructured.NestedString(c.get(t, objects[2]).Object, "spec", "clusterIP")
	value := func() string {
		v, _, _ := unstructured.NestedString(c.get(t, objects[0]).Object, "data", "value")
		return v
	}
	if ip == "" || value() != ip+":5432" {
		t.Errorf("the Service has %q, the ConfigMap %q", ip, value())
	}
	if ports := itemsOf(field(c.get(t, objects[1]).Object, "spec"), "ports"); len(ports) != 1 || ports[0]["port"] != int64(5432) {
		t.Errorf("ports %v", ports)
	}
	before := c.get(t, objects[0]).GetResourceVersion()
	if _, log := c.mustApply(t, c.inject(t, all)); !strings.Contains(log, "conf:configmap (unchanged)") || c.get(t, objects[0]).GetResourceVersion() != before {
		t.Errorf("the second apply: %s", log)
	}
	if got := plan(all); got != "unchanged service/db\nunchanged configmap/conf\nunchanged service/front" {
		t.Errorf("the second plan: %s", got)
	}
	// A reference to something new, in an object that exists.
	if diff := cmp.Diff("create configmap/new\nupdate configmap/conf: data.value of configmap/new is known after apply\n  change data.value: "+ip+":5432 > known after apply",
		plan(settingsYAML("conf", "$(hone.ref:configmap/new:data.value)")+"---\n"+settingsYAML("new", "x"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// A cycle (K11).
	_, _, err := c.apply(t, c.inject(t, settingsYAML("a", "$(hone.ref:configmap/b:data.value)")+"---\n"+settingsYAML("b", "$(hone.ref:configmap/a:data.value)")))
	if p, ok := problem.Of(err); !ok || p.Summary != "objects depend on each other: configmap/a → configmap/b → configmap/a" {
		t.Errorf("a cycle: %v", err)
	}
	if _, err := c.client(t, objects[0]).Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an object of a cycle was created: %v", err)
	}
}

// TestRealFieldRefWaits applies an object that refers to one that others make later, and objects whose references can
// never be resolved.
func TestRealFieldRefWaits(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	late := c.inject(t, settingsYAML("late", "here"))[0]
	log := &waitLog{said: make(chan struct{})}
	done := make(chan error, 1)
	objects := c.inject(t, settingsYAML("conf", "$(hone.ref:configmap/late:data.value)"))
	go func() {
		_, err := NewApplier(c.dyn, c.mapper).Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects, Namespace: c.namespace, Logger: log})
		done <- err
	}()
	<-log.said
	if _, err := c.client(t, late).Create(t.Context(), late, metav1.CreateOptions{FieldManager: "somebody"}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if v, _, _ := unstructured.NestedString(c.get(t, objects[0]).Object, "data", "value"); v != "here" {
		t.Errorf("value %q", v)
	}
	for _, tt := range []struct{ ref, want string }{
		{"configmap/late:data", "data of configmap/late is not a text, a number or a boolean"},
		{"configmap/late:metadata['name','namespace']", "is not one value: there are 2"},
		{"service/kube-system/none:spec.x", "it refers to spec.x of service/kube-system/none, which cannot be read"},
		{"tea/green:spec.x", "it refers to spec.x of tea/green, which cannot be read"},
		{"secret/x:data.y", "the values of a Secret would get into other objects"},
	} {
		_, err := NewApplier(c.dyn, c.mapper).Apply(t.Context(), ApplyRequest{Resource: "web", Namespace: c.namespace, Timeout: 500 * time.Millisecond,
			Objects: c.inject(t, strings.ReplaceAll(settingsYAML("conf", "REF"), "'REF'", `"$(hone.ref:`+tt.ref+`)"`))})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.ref, err)
		}
	}
}

// waitLog closes said when something is waited for.
type waitLog struct {
	said chan struct{}
	once sync.Once
}

func (l *waitLog) Write(_ logstore.Level, text string) {
	if strings.Contains(text, "waiting until there is one") {
		l.once.Do(func() { close(l.said) })
	}
}

func (*waitLog) Progress(string, string, bool) {}
