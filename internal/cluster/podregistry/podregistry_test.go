package podregistry

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// TestPods looks at the pods of a registry that starts.
func TestPods(t *testing.T) {
	waits := func(reason string) []model.Container {
		return []model.Container{{Reason: reason, Image: "x", Message: "not found"}}
	}
	for name, tt := range map[string]struct {
		event k8s.PodEvent
		pod   string
		err   string
		waits string
	}{
		"is ready":             {event: k8s.PodEvent{Pod: model.Pod{Ready: true}}, pod: "p"},
		"of another template":  {event: k8s.PodEvent{Pod: model.Pod{Ready: true, TemplateHash: "other"}}},
		"is deleted":           {event: k8s.PodEvent{Pod: model.Pod{Ready: true}, Deleted: true}},
		"is being deleted":     {event: k8s.PodEvent{Pod: model.Pod{Ready: true, Deleting: true}}},
		"is not scheduled":     {event: k8s.PodEvent{Pod: model.Pod{Status: "Pending", Message: "1 node(s) didn't have free ports"}}, waits: "p, Pending: 1 node(s) didn't have free ports"},
		"starts":               {event: k8s.PodEvent{Pod: model.Pod{Status: "ContainerCreating"}}, waits: "p, ContainerCreating"},
		"has no image":         {event: k8s.PodEvent{Pod: model.Pod{Status: "ErrImagePull", Containers: waits("ErrImagePull")}}, err: "the nodes cannot pull the image of the registry, x: not found", waits: "p, ErrImagePull"},
		"has no image, again":  {event: k8s.PodEvent{Pod: model.Pod{Status: "ImagePullBackOff", Containers: waits("ImagePullBackOff")}}, err: "the nodes cannot pull the image of the registry, x: not found", waits: "p, ImagePullBackOff"},
		"has a wrong name":     {event: k8s.PodEvent{Pod: model.Pod{Status: "InvalidImageName", Containers: waits("InvalidImageName")}}, err: "the nodes cannot pull the image of the registry, x: not found", waits: "p, InvalidImageName"},
		"crashes, and retries": {event: k8s.PodEvent{Pod: model.Pod{Status: "CrashLoopBackOff", Containers: waits("CrashLoopBackOff")}}, waits: "p, CrashLoopBackOff"},
	} {
		if tt.event.Pod.TemplateHash == "" {
			tt.event.Pod.TemplateHash = "h"
		}
		tt.event.Pod.Name = "p"
		w := newPending("owner")
		w.hash = "h"
		if got := w.podChanged(tt.event); got != tt.waits {
			t.Errorf("%s: waits for %q", name, got)
		}
		checkEnd(t, name, w, tt.pod, tt.err)
	}
}

// checkEnd checks how a wait has ended; with neither a pod nor an error, that it goes on.
func checkEnd(t *testing.T, name string, w *pending, pod, err string) {
	t.Helper()
	select {
	case <-w.done:
		text := ""
		if w.err != nil {
			text = w.err.Error()
		}
		if w.pod != pod || text != err || pod+err == "" {
			t.Errorf("%s: ended with pod %q, %q", name, w.pod, text)
		}
	default:
		if pod+err != "" {
			t.Errorf("%s: goes on", name)
		}
	}
}

// TestEvents takes a refused pod for an answer only if it is a new one of the owner.
func TestEvents(t *testing.T) {
	now := time.Now()
	for name, tt := range map[string]struct {
		event k8s.KubeEvent
		ends  bool
	}{
		"refused":              {k8s.KubeEvent{Reason: "FailedCreate", Object: k8s.KubeEventObject{Name: "owner"}, LastSeen: now}, true},
		"refused long ago":     {k8s.KubeEvent{Reason: "FailedCreate", Object: k8s.KubeEventObject{Name: "owner"}, LastSeen: now.Add(-time.Hour)}, false},
		"a pod of another one": {k8s.KubeEvent{Reason: "FailedCreate", Object: k8s.KubeEventObject{Name: "web"}, LastSeen: now}, false},
		"made":                 {k8s.KubeEvent{Reason: "SuccessfulCreate", Object: k8s.KubeEventObject{Name: "owner"}, LastSeen: now}, false},
	} {
		tt.event.Message = "violates PodSecurity"
		w, want := newPending("owner"), ""
		w.event(tt.event)
		if tt.ends {
			want = "the cluster does not let nodes reach a registry of hone: violates PodSecurity"
		}
		checkEnd(t, name, w, "", want)
	}
}

// TestManifests checks the objects: nodes reach the registry on their loopback interface only, and pods need no rights.
func TestManifests(t *testing.T) {
	var objects []model.K8sObject
	for _, in := range []func(string, model.RegistryPod) (model.Manifest, error){registryIn, relaysIn} {
		m, err := in("ns", model.RegistryPod{Image: "registry.example.com/registry:3"})
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, m.K8s.Objects...)
	}
	var kinds []string
	for _, o := range objects {
		kinds = append(kinds, o.APIVersion+" "+o.Kind+" "+o.Namespace+"/"+o.Name)
		pods := o.Kind == "Deployment" || o.Kind == "DaemonSet"
		for _, want := range []string{`"image":"registry.example.com/registry:3"`, `"runAsNonRoot":true`, `"drop":["ALL"]`, `"allowPrivilegeEscalation":false`, `"emptyDir":{"sizeLimit":"20Gi"}`} {
			if pods && !strings.Contains(o.JSON, want) {
				t.Errorf("%s lacks %s:\n%s", o.Kind, want, o.JSON)
			}
		}
		if ports := strings.Count(o.JSON, "hostPort"); ports != strings.Count(o.JSON, `"hostIP":"127.0.0.1"`) || (ports == 1) != (o.Kind == "DaemonSet") || strings.Contains(o.JSON, "nodePort") {
			t.Errorf("%s opens ports of nodes:\n%s", o.Kind, o.JSON)
		}
	}
	if diff := cmp.Diff([]string{"v1 ConfigMap ns/hone-registry", "v1 Service ns/hone-registry", "apps/v1 Deployment ns/hone-registry", "apps/v1 DaemonSet ns/hone-registry-relay"}, kinds); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if !strings.Contains(objects[0].JSON, `http://hone-registry.ns.svc:5000`) {
		t.Errorf("the relays do not know the registry: %s", objects[0].JSON)
	}
}

// TestVolume puts the images on a volume, whose claim no other settings have, and leaves the relays without one.
func TestVolume(t *testing.T) {
	for claimed, is := range map[string]model.RegistryPod{
		"hone-registry-10gi":      {Image: "r", Storage: "10Gi"},
		"hone-registry-20gi":      {Image: "r", Storage: "20Gi"},
		"hone-registry-10gi-fast": {Image: "r", Storage: "10Gi", StorageClass: "fast"},
	} {
		m, err := registryIn("ns", is)
		if err != nil {
			t.Fatal(err)
		}
		last := m.K8s.Objects[len(m.K8s.Objects)-1]
		if last.Kind != "PersistentVolumeClaim" || last.Name != claimed || !strings.Contains(last.JSON, `"storage":"`+is.Storage+`"`) || strings.Contains(last.JSON, "storageClassName") != (is.StorageClass != "") {
			t.Errorf("%s: the claim is %s %s: %s", claimed, last.Kind, last.Name, last.JSON)
		}
		if pods := m.K8s.Objects[2]; !strings.Contains(pods.JSON, `"persistentVolumeClaim":{"claimName":"`+claimed+`"}`) || strings.Contains(pods.JSON, "emptyDir") {
			t.Errorf("%s: %s", claimed, pods.JSON)
		}
		if m, err = relaysIn("ns", is); err != nil || strings.Contains(m.K8s.Objects[0].JSON, "persistentVolumeClaim") {
			t.Errorf("%s: the relays are %+v, %v", claimed, m, err)
		}
	}
}
