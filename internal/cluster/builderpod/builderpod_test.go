package builderpod

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// TestModes lists the ladder.
func TestModes(t *testing.T) {
	for _, tt := range []struct {
		privileged bool
		last       Mode
		want       []Mode
	}{
		{false, "", []Mode{UserNamespace, Rootless}},
		{true, "", []Mode{UserNamespace, Rootless, Privileged}},
		{false, Rootless, []Mode{Rootless, UserNamespace}},
		{true, Privileged, []Mode{Privileged, UserNamespace, Rootless}},
		{false, Privileged, []Mode{UserNamespace, Rootless}}, // the user no longer allows it
		{false, "of a later version", []Mode{UserNamespace, Rootless}},
	} {
		if got := modes(model.BuilderPod{Privileged: tt.privileged}, tt.last); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestNodes tells nodes apart whose container runtime makes user namespaces.
func TestNodes(t *testing.T) {
	for text, want := range map[string]bool{
		"{}": false,
		"{runtimeHandlers: [{name: '', features: {userNamespaces: true}}]}":                        true,
		"{runtimeHandlers: [{name: '', features: {userNamespaces: false}}]}":                       false,
		"{runtimeHandlers: [{name: kata, features: {userNamespaces: true}}, {name: ''}]}":          false,
		"{runtimeHandlers: [{name: kata}, {name: '', features: {userNamespaces: true}}]}":          true,
		"{runtimeHandlers: [{features: {recursiveReadOnlyMounts: true, userNamespaces: true}}]}":   true,
		"{runtimeHandlers: [{name: '', features: {recursiveReadOnlyMounts: true}}], features: {}}": false,
	} {
		var status map[string]any
		if err := yaml.Unmarshal([]byte(text), &status); err != nil {
			t.Fatal(err)
		}
		if got := supportsUserNamespaces(unstructured.Unstructured{Object: map[string]any{"status": status}}); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// TestRefusals reads the answers of API servers to a pod.
func TestRefusals(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	security := apierrors.NewForbidden(pods, "hone-builder-", errors.New(`violates PodSecurity "baseline:latest": privileged (container "buildkitd" must not set securityContext.privileged=true)`))
	if noRight(security) || brief(security) != `violates PodSecurity "baseline:latest": privileged (container "buildkitd" must not set securityContext.privileged=true)` {
		t.Errorf("%q", brief(security))
	}
	if rights := apierrors.NewForbidden(pods, "", errors.New(`User "dev" cannot create resource "pods" in API group "" in the namespace "a"`)); !noRight(rights) {
		t.Error("a lack of rights counts as an answer about the pod")
	}
	for text, why := range map[string]string{"{hostUsers: false}": "", "{}": "the API server does not know it", "{hostUsers: true}": "the API server does not know it"} {
		var spec map[string]any
		if err := yaml.Unmarshal([]byte(text), &spec); err != nil {
			t.Fatal(err)
		}
		made := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		if got := dropped(UserNamespace, made); got != why {
			t.Errorf("%s: %q", text, got)
		}
		if got := dropped(Rootless, made); got != "" {
			t.Errorf("rootless, %s: %q", text, got)
		}
	}
}

// TestPods looks at the pod of a builder that starts.
func TestPods(t *testing.T) {
	began := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	ran := func(c model.Container, d time.Duration) model.Container {
		c.Restarts, c.LastStartedAt, c.LastFinishedAt, c.LastExitCode = 1, began, began.Add(d), 1
		return c
	}
	for name, tt := range map[string]struct {
		event  k8s.PodEvent
		pod    string
		why    string
		err    string
		status string
	}{
		"is ready":              {event: k8s.PodEvent{Pod: model.Pod{Ready: true}}, pod: "p"},
		"of another template":   {event: k8s.PodEvent{Pod: model.Pod{Ready: true, TemplateHash: "other"}}},
		"is deleted":            {event: k8s.PodEvent{Pod: model.Pod{Ready: true, Deleting: true}}},
		"is not scheduled":      {event: k8s.PodEvent{Pod: model.Pod{Status: "Pending", Message: "0/3 nodes are available"}}, status: "Pending: 0/3 nodes are available"},
		"has no image":          {event: k8s.PodEvent{Pod: model.Pod{Containers: []model.Container{{Reason: "ImagePullBackOff", Image: "x", Message: "not found"}}}}, err: "the nodes cannot pull the image of the builder, x: not found"},
		"cannot be created":     {event: k8s.PodEvent{Pod: model.Pod{Containers: []model.Container{{Reason: "CreateContainerError", Message: "seccomp"}}}}, why: "seccomp"},
		"ends at once":          {event: k8s.PodEvent{Pod: model.Pod{Containers: []model.Container{ran(model.Container{}, time.Second)}}}, pod: "p", why: "the daemon ends with exit code 1"},
		"has run, and is again": {event: k8s.PodEvent{Pod: model.Pod{Status: "Running", Containers: []model.Container{ran(model.Container{}, time.Hour)}}}, status: "Running"},
	} {
		if tt.event.Pod.TemplateHash == "" {
			tt.event.Pod.TemplateHash = "h"
		}
		tt.event.Pod.Name, tt.event.Pod.UID = "p", "u"
		o, status, over := (&pending{hash: "h", pods: map[string]bool{}}).podChanged(tt.event)
		text := ""
		if o.err != nil {
			text = o.err.Error()
		}
		want := tt.pod != "" || tt.why != "" || tt.err != ""
		if over != want || o.pod != tt.pod || o.why != tt.why || text != tt.err || status != tt.status {
			t.Errorf("%s: %+v, %q, over %t", name, o, status, over)
		}
	}
}

// TestEvents takes the failure of a sandbox for an answer only if it is one about the user namespace of our pod.
func TestEvents(t *testing.T) {
	w := &pending{hash: "h", pods: map[string]bool{}}
	w.podChanged(k8s.PodEvent{Pod: model.Pod{UID: "u", TemplateHash: "h"}})
	for _, tt := range []struct {
		event k8s.KubeEvent
		over  bool
	}{
		{k8s.KubeEvent{ObjectUID: "u", Reason: "FailedCreatePodSandBox", Message: "user namespaces are not supported"}, true},
		{k8s.KubeEvent{ObjectUID: "other", Reason: "FailedCreatePodSandBox", Message: "user namespaces are not supported"}, false},
		{k8s.KubeEvent{ObjectUID: "u", Reason: "FailedCreatePodSandBox", Message: "no network"}, false},
		{k8s.KubeEvent{ObjectUID: "u", Reason: "Pulled", Message: "user namespace"}, false},
	} {
		if o, over := w.event(tt.event); over != tt.over || over != (o.why != "") {
			t.Errorf("%+v: %+v, %t", tt.event, o, over)
		}
	}
}

// TestManifest checks the objects of a builder.
func TestManifest(t *testing.T) {
	pod := model.BuilderPod{Config: "debug = true", Requests: map[string]string{"cpu": "2"}, NodeSelector: map[string]string{"disk": "ssd"}, Storage: "1Gi", StorageClass: "fast"}
	m, err := Plan{Mode: Rootless, Volume: true}.manifest(replicaOf(pod, 0), "ns")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, o := range m.K8s.Objects {
		kinds = append(kinds, o.APIVersion+" "+o.Kind+" "+o.Namespace+"/"+o.Name)
	}
	if diff := cmp.Diff([]string{"apps/v1 Deployment ns/" + string(m.Name), "v1 PersistentVolumeClaim ns/" + string(m.Name), "v1 ConfigMap ns/" + string(m.Name)}, kinds); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	for mode, wants := range map[Mode][]string{
		UserNamespace: {`"hostUsers":false`, `"privileged":true`, "moby/buildkit:" + Version + `"`},
		Rootless:      {`"runAsUser":1000`, `"seccompProfile":{"type":"Unconfined"}`, "moby/buildkit:" + Version + `-rootless"`, "no-process-sandbox", `"fsGroup":1000`},
		Privileged:    {`"privileged":true`, "moby/buildkit:" + Version + `"`},
	} {
		m, err := Plan{Mode: mode}.manifest(replicaOf(pod, 0), "ns")
		if err != nil {
			t.Fatal(err)
		}
		text := m.K8s.Objects[0].JSON
		for _, want := range append(wants, `"emptyDir":{}`, `"nodeSelector":{"disk":"ssd"}`, `"requests":{"cpu":"2"}`, `"hone.dev/builder-mode":"`+string(mode)+`"`,
			`"topologySpreadConstraints":[{"labelSelector":{"matchLabels":{"hone.dev/builder":"`+nameOf(pod)+`"}}`, `"whenUnsatisfiable":"ScheduleAnyway"`) {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s:\n%s", mode, want, text)
			}
		}
		if host := strings.Contains(text, "hostPath") || strings.Contains(text, "hostNetwork") || strings.Contains(text, "containerPort"); host {
			t.Errorf("%s uses its host, or opens a port:\n%s", mode, text)
		}
	}
}

// TestNames gives builders one name if their settings are equal, and names of their own otherwise.
func TestNames(t *testing.T) {
	none := map[string]string{}
	for _, pod := range []model.BuilderPod{{}, {Namespace: "other"}, {Cluster: "eu"}, {Replicas: 3}, {Requests: none, Limits: none, NodeSelector: none}} {
		if got := nameOf(pod); got != "hone-builder" {
			t.Errorf("%+v: %s", pod, got)
		}
	}
	cpu := map[string]string{"cpu": "2", "memory": "1Gi"}
	seen := map[string]model.BuilderPod{"hone-builder": {}}
	for _, pod := range []model.BuilderPod{{Image: "a"}, {StorageClass: "a"}, {Storage: "1Gi"}, {Config: "a"}, {Privileged: true}, {Requests: cpu}, {Limits: cpu}, {NodeSelector: cpu},
		{Requests: map[string]string{"cpu": "2"}}} {
		name := nameOf(pod)
		if twin, known := seen[name]; known {
			t.Errorf("%+v and %+v are both %s", pod, twin, name)
		}
		seen[name] = pod
		alike := pod
		alike.Namespace, alike.Requests = "other", maps.Clone(pod.Requests)
		if again := nameOf(alike); again != name || !strings.HasPrefix(name, "hone-builder-") {
			t.Errorf("%+v: %s, then %s", pod, name, again)
		}
		m, err := Plan{Mode: Rootless, Volume: true}.manifest(replicaOf(pod, 0), "ns")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range m.K8s.Objects {
			if strings.Contains(o.JSON, `"hone-builder"`) || o.Name != name || string(m.Name) != name {
				t.Errorf("an object of %s, %s, has the name of another builder: %s", name, o.Name, o.JSON)
			}
		}
	}
}

// TestReplicas gives each replica objects of its own. Builders with more replicas have the same first ones.
func TestReplicas(t *testing.T) {
	for _, tt := range []struct {
		replicas, number int
		want             string
	}{
		{0, 0, "hone-builder-N"}, {1, 0, "hone-builder-N"}, {2, 0, "hone-builder-N"}, {2, 1, "hone-builder-N-1"}, {16, 1, "hone-builder-N-1"}, {16, 15, "hone-builder-N-15"},
	} {
		pod := model.BuilderPod{Replicas: tt.replicas, Config: "debug = true", Storage: "1Gi"}
		want := strings.Replace(tt.want, "hone-builder-N", nameOf(pod), 1)
		m, err := Plan{Mode: Rootless, Volume: true}.manifest(replicaOf(pod, tt.number), "ns")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range m.K8s.Objects {
			if o.Name != want || string(m.Name) != want || !strings.Contains(o.JSON, `"hone.dev/builder":"`+nameOf(pod)+`"`) {
				t.Errorf("%+v: %s %s of %s: %s", tt, o.Kind, o.Name, m.Name, o.JSON)
			}
		}
		for _, refers := range []string{`"claimName":"` + want + `"`, `"configMap":{"name":"` + want + `"}`, `"selector":{"matchLabels":{"app.kubernetes.io/name":"` + want + `"}}`, `"replicas":1`} {
			if text := m.K8s.Objects[0].JSON; !strings.Contains(text, refers) {
				t.Errorf("%+v: the Deployment lacks %s: %s", tt, refers, text)
			}
		}
	}
}

// TestPlace reads the state of a pod.
func TestPlace(t *testing.T) {
	for text, want := range map[string][2]string{
		"{spec: {nodeName: a}, status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}":                                        {"a", ""},
		"{spec: {nodeName: a}, status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}}":                                       {"", "Running"},
		"{status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', message: '0/1 nodes are available'}]}}":                 {"", "Pending: 0/1 nodes are available"},
		"{spec: {nodeName: a}, status: {phase: Pending, conditions: [{type: PodScheduled, status: 'True'}, {type: Ready, status: 'False'}]}}": {"", "Pending"},
	} {
		var pod map[string]any
		if err := yaml.Unmarshal([]byte(text), &pod); err != nil {
			t.Fatal(err)
		}
		if node, why := place(unstructured.Unstructured{Object: pod}); node != want[0] || why != want[1] {
			t.Errorf("%s: %q, %q", text, node, why)
		}
	}
}

// TestImpossible says why no mode works, and how one would.
func TestImpossible(t *testing.T) {
	against := []Refusal{{UserNamespace, "node a does not support it"}, {Rootless, "violates PodSecurity"}}
	for privileged, more := range map[bool]bool{false: true, true: false} {
		d := New(Options{Namespace: "ns", Pod: model.BuilderPod{Privileged: privileged}})
		text := problem.Text(d.impossible(Plan{Against: against}))
		if !strings.Contains(text, "user namespace: node a does not support it; rootless: violates PodSecurity") || strings.Contains(text, "privileged=True") != more {
			t.Errorf("privileged %t: %s", privileged, text)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
