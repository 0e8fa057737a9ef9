package view

import (
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// TestContainerCauses translates Kubernetes' messages about a container into the words of a person.
func TestContainerCauses(t *testing.T) {
	waiting := func(reason, message string) model.Container {
		return model.Container{Name: "main", Image: "shop/api:1", State: model.ContainerWaiting, Reason: reason, Message: message}
	}
	crashed := func(code int, reason, message string) model.Container {
		c := waiting("CrashLoopBackOff", "back-off 1m20s restarting failed container=main pod=x")
		c.LastReason, c.LastExitCode, c.LastMessage = reason, code, message
		c.LastStartedAt, c.LastFinishedAt = hudtest.Start, hudtest.Start.Add(2*time.Second)
		return c
	}
	probed := crashed(137, "Error", "")
	probed.Restarts, probed.Probes = 2, []model.ContainerProbe{{Kind: model.ProbeLiveness, Calls: "httpGet :8080/health"}}
	init := crashed(1, "Error", "")
	init.Init = true
	const pull = `Back-off pulling image "shop/api:1": ErrImagePull: failed to pull and unpack image: `
	const task = "failed to create containerd task: OCI runtime create failed: unable to start container process: "
	for _, tt := range []struct {
		name, text, help string
		c                model.Container
	}{
		{"exit", "container main exited with code 2, 2 s after its start; Kubernetes waits 1 m 20 s between starts", "", crashed(2, "Error", "")},
		{"exit of an init container", "init container main exited with code 1, 2 s after its start; Kubernetes waits 1 m 20 s between starts", "", init},
		{"a signal", "container main exited with code 139 (segmentation fault, SIGSEGV), 2 s after its start; Kubernetes waits 1 m 20 s between starts", "", crashed(139, "Error", "")},
		{"success where it must not end", "container main ended with code 0, 2 s after its start, but it is meant to keep running; Kubernetes waits 1 m 20 s between starts", "", crashed(0, "Completed", "")},
		{"memory", "container main used more memory than its limit, and was killed, 2 s after its start", "raise resources.limits.memory, or use less", crashed(137, "OOMKilled", "")},
		{"liveness", "Kubernetes ended container main, because its liveness probe httpGet :8080/health failed: HTTP probe failed with statuscode: 404; Kubernetes waits 1 m 20 s between starts",
			"the program has no such path: check the path of the probe", probed},
		{"no command", "the command /nope of container main does not exist in its image", "correct the command of the container, or the image",
			crashed(128, "StartError", task+`exec: "/nope": stat /nope: no such file or directory: unknown`)},
		{"not executable", "the command /app of container main may not be executed", "make it executable in the image: chmod +x", crashed(128, "StartError", task+`exec: "/app": permission denied: unknown`)},
		{"another processor", "the command /app of container main was built for another processor than the node's", "build the image for the processor of the node",
			crashed(128, "StartError", task+`exec: "/app": exec format error`)},
		{"a reason that is not known", "container main cannot be started: it is: too late", "", crashed(128, "StartError", "for once: it is: too late: unknown")},
		{"no such tag", "the image shop/api:1 does not exist in its registry", "check the image's name and tag, or push it", waiting("ImagePullBackOff", pull+"shop/api:1: not found")},
		{"no access", "the registry denies access to the image shop/api:1", "check the image's name; if it is private, the pod needs an imagePullSecret that may read it",
			waiting("ErrImagePull", pull+"pull access denied, repository does not exist or may require authorization")},
		{"no registry", "the node cannot reach the registry of the image shop/api:1", "check the registry's name in the image, and the network of the node",
			waiting("ErrImagePull", pull+"dial tcp: lookup reg.local: no such host")},
		{"a registry without TLS", "the registry of shop/api:1 speaks HTTP, and the node wants HTTPS", "make the node trust the registry as an insecure one",
			waiting("ErrImagePull", pull+"http: server gave HTTP response to HTTPS client")},
		{"the event tells why", "the image shop/api:1 does not exist for the node's processor", "build or choose an image for the processor of the node", waiting("ImagePullBackOff", "Back-off pulling image")},
		{"never pulled", "the image shop/api:1 is not on the node, and imagePullPolicy is Never", "load the image into the node, or set imagePullPolicy to IfNotPresent",
			waiting("ErrImageNeverPull", "Container image is not present with pull policy of Never")},
		{"no name of an image", `"shop/api:1" is not the name of an image`, "correct the image's name in the object", waiting("InvalidImageName", "couldn't parse image reference")},
		{"no Secret", "container main needs the Secret keys, which does not exist in namespace shop", "create the Secret keys, or correct its name in the object",
			waiting("CreateContainerConfigError", `secret "keys" not found`)},
		{"no key", "container main needs the key dsn of the ConfigMap settings, which has no such key", "add the key dsn to the ConfigMap settings, or correct its name in the object",
			waiting("CreateContainerConfigError", "couldn't find key dsn in ConfigMap shop/settings")},
		{"root", "container main must not run as root, and its image does", "set USER to a number in the Dockerfile, or runAsUser in securityContext",
			waiting("CreateContainerConfigError", "container has runAsNonRoot and image will run as root")},
	} {
		pod := state.Pod{Pod: model.Pod{UID: "u", Namespace: "shop", Name: "api-1", Containers: []model.Container{tt.c}},
			Unhealthy: []state.ProbeFailure{{Container: "main", Kind: model.ProbeLiveness, Answer: "HTTP probe failed with statuscode: 404", Restarts: 1}}}
		events := []state.KubeEvent{{ObjectUID: "u", Message: `Failed to pull image "shop/api:1": no match for platform in manifest`}}
		if got := containerCause(pod, tt.c, events); got.text != tt.text || got.help != tt.help {
			t.Errorf("%s:\n got %s\nhelp %s\nwant %s\nhelp %s", tt.name, got.text, got.help, tt.text, tt.help)
		}
	}
}

// TestPlaceCauses explains in the words of a person why no node takes a pod.
func TestPlaceCauses(t *testing.T) {
	claims := []state.KubeEvent{{Warning: true, Object: model.ObjectID{Kind: "Pod", Name: "api-1"}, Message: "no"},
		{Warning: true, Object: model.ObjectID{Kind: "PersistentVolumeClaim", Name: "data"}, Message: `storageclass "fast" not found`}}
	for _, tt := range []struct {
		message, want string
		events        []state.KubeEvent
	}{
		{"0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.", `the PersistentVolumeClaim data has no volume: storageclass "fast" not found`, claims},
		{"0/1 nodes are available: 1 Insufficient memory. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.", "1 node has not enough memory left", claims},
		{"0/3 nodes are available: 2 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector.", "2 nodes have not enough cpu left; 1 node has not the labels that nodeSelector or affinity ask for", nil},
		{"0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: no", "a PersistentVolumeClaim of the pod has no volume yet", claims[:1]},
		{"0/1 nodes are available: 1 node(s) were unschedulable.", "1 node(s) were unschedulable", nil},
		{"another scheduler says no", "another scheduler says no", nil},
	} {
		if got := placeCause(state.Pod{Pod: model.Pod{Message: tt.message}}, tt.events); got.text != "no node takes the pod: "+tt.want {
			t.Errorf("%s\n got %s", tt.message, got.text)
		}
	}
}

// TestRuntimeSaysWhy: the row has a short form of the cause on its card.
func TestRuntimeSaysWhy(t *testing.T) {
	for _, tt := range []struct {
		want, short string
		change      func(c *model.Container, p *state.Pod)
	}{
		{"Secret keys is missing", "config", func(c *model.Container, p *state.Pod) {
			p.Status = "CreateContainerConfigError"
			c.State, c.Reason, c.Message = model.ContainerWaiting, p.Status, `secret "keys" not found`
		}},
		{"out of memory ×3  exit 137", "memory ×3", func(c *model.Container, p *state.Pod) {
			p.Status, c.Restarts = "CrashLoopBackOff", 3
			c.State, c.Reason, c.LastReason, c.LastExitCode = model.ContainerWaiting, p.Status, "OOMKilled", 137
		}},
		{"pending 0/1  no node takes its pod: 1 node has not enough cpu left", "pending 0/1", func(c *model.Container, p *state.Pod) {
			p.Status, p.Phase, p.Message, c.State = "Pending", "Pending", "0/1 nodes are available: 1 Insufficient cpu.", model.ContainerWaiting
		}},
		{"starting 0/1", "start 0/1", func(*model.Container, *state.Pod) {}},
	} {
		s := one(nil, func(s *hudtest.Scene) {
			s.Build("api", 1, time.Second, 2*time.Second, hudtest.Applied("image"))
			p := hudtest.Pod("api", 2*time.Second, false)
			tt.change(&p.Containers[0], &p)
			s.At(3*time.Second, state.PodChanged{Pod: p})
		})
		r := Build(s.View(t.Context()), hudtest.Start.Add(time.Minute), 0).Rows[1]
		if got := r.Runtime.String(); got != tt.want {
			t.Errorf("runtime: got %q, want %q", got, tt.want)
		}
		if got := r.Important().String(); got != tt.want {
			t.Errorf("status: got %q, want %q", got, tt.want)
		}
		if got := r.RuntimeShort.String(); got != tt.short {
			t.Errorf("in short: got %q, want %q", got, tt.short)
		}
	}
}
