package podregistry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// Options configure a Registry.
type Options struct {
	Kube *k8s.Client
	// Deploy applies the objects of a resource, and returns those that it has applied.
	Deploy    func(ctx context.Context, m model.Manifest, namespace string) ([]model.AppliedObject, error)
	Namespace string
}

// Registry is the registry of a namespace. Construct it with New, and Close it.
type Registry struct {
	o Options

	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup

	mu sync.Mutex
	// start is the attempt that brings the pods up now; nil for none. Guarded by mu, as everything below.
	start  *start
	status string            // the thing that the start waits for
	pod    string            // the registry's pod, until a connection to it fails; empty for none
	is     model.RegistryPod // the settings of the newest start
}

// start is an attempt to bring the pods up. err is valid once done is closed.
type start struct {
	done chan struct{}
	err  error
}

// New returns the registry of a namespace. It touches nothing before the first Start or Dial.
func New(o Options) *Registry {
	r := &Registry{o: o}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Close ends the attempt to bring the pods up. The pods stay.
func (r *Registry) Close() error {
	r.cancel()
	r.all.Wait()
	return nil
}

// Dial connects to the registry, and starts none. The error satisfies fs.ErrNotExist if none runs.
func (r *Registry) Dial(ctx context.Context) (net.Conn, error) {
	if pod := r.known(); pod != "" {
		conn, err := r.o.Kube.DialPod(ctx, r.o.Namespace, pod, model.KeptRegistryPort)
		if err == nil {
			return conn, nil
		}
		r.lost(pod) // another one may have its place
	}
	pod, err := r.running(ctx)
	if err != nil {
		return nil, err
	}
	return r.o.Kube.DialPod(ctx, r.o.Namespace, pod, model.KeptRegistryPort)
}

// known returns the registry's pod; empty if none is known.
func (r *Registry) known() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pod
}

// lost notes that a pod is not reached: the next connection asks for the pod.
func (r *Registry) lost(pod string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pod == pod {
		r.pod = ""
	}
}

// errNone means that there is no registry.
var errNone = fmt.Errorf("the registry does not run yet: %w", fs.ErrNotExist)

// running returns the registry's pod that is ready.
func (r *Registry) running(ctx context.Context) (pod string, err error) {
	all, err := r.o.Kube.Dynamic().Resource(pods).Namespace(r.o.Namespace).List(ctx, metav1.ListOptions{LabelSelector: nameLabel + "=" + name})
	if err != nil {
		return "", fmt.Errorf("look for the registry: %w", r.o.Kube.Explain(err))
	}
	for _, p := range all.Items {
		if p.GetDeletionTimestamp() == nil && isReady(p) {
			return p.GetName(), nil
		}
	}
	return "", errNone
}

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// isReady reports whether a pod has the condition Ready.
func isReady(pod unstructured.Unstructured) bool {
	all, _, _ := unstructured.NestedSlice(pod.Object, "status", "conditions")
	return slices.ContainsFunc(all, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == "Ready" && condition["status"] == "True"
	})
}

// Start brings the registry up, unless this session knows it to run with these settings. Where ctx is done first, the error names the thing
// that the pods wait for, and the start goes on.
func (r *Registry) Start(ctx context.Context, is model.RegistryPod) error {
	for {
		began, err := r.startOnce(ctx, is)
		if err != nil || began == is { // else it has waited for the start of another pod
			return err
		}
	}
}

// startOnce is Start, or waits for a start that is under way. It returns the settings of the pod that has started.
func (r *Registry) startOnce(ctx context.Context, is model.RegistryPod) (began model.RegistryPod, err error) {
	r.mu.Lock()
	if r.pod != "" && r.is == is {
		r.mu.Unlock()
		return is, nil
	}
	s := r.start
	if s == nil {
		s = &start{done: make(chan struct{})}
		r.start, r.is, r.status = s, is, "its objects are applied"
		r.all.Go(func() {
			pod, err := r.bring(r.ctx, is)
			r.mu.Lock()
			r.start, r.pod, s.err = nil, pod, err
			r.mu.Unlock()
			close(s.done)
		})
	}
	began = r.is
	r.mu.Unlock()
	select {
	case <-s.done:
		if began != is {
			return began, nil // its failure is not about these settings
		}
		return is, s.err
	case <-ctx.Done():
		return began, fmt.Errorf("the registry starts, %s: %w", r.waiting(), context.Cause(ctx))
	}
}

// waiting returns the thing that the start waits for.
func (r *Registry) waiting() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// says notes the thing that the start waits for.
func (r *Registry) says(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = text
}

// startLimit is the time after which a start has failed, as it is for other pods of a session.
var startLimit = model.DefaultCISettings.ReadinessTimeout

// bring makes the cluster run the registry, and returns the name of its pod once it answers, and a node relays it.
func (r *Registry) bring(ctx context.Context, is model.RegistryPod) (pod string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, errTooLong)
	defer cancel()
	m, err := registryIn(r.o.Namespace, is)
	if err != nil {
		return "", err
	}
	if pod, err = r.apply(ctx, m); err != nil {
		return "", err
	}
	if m, err = relaysIn(r.o.Namespace, is); err != nil {
		return "", err
	}
	_, err = r.apply(ctx, m)
	return pod, err
}

// apply applies a resource, and waits for a pod of it.
func (r *Registry) apply(ctx context.Context, m model.Manifest) (pod string, err error) {
	applied, err := r.o.Deploy(ctx, m, r.o.Namespace)
	if err != nil {
		return "", err
	}
	seen := newPending(string(m.Name))
	for _, o := range applied {
		if o.Kind == "Deployment" {
			seen.hash = o.TemplateHash
		}
	}
	return r.await(ctx, seen)
}

// await waits until a pod is ready.
func (r *Registry) await(ctx context.Context, seen *pending) (pod string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		forbidden := func(err error) {
			if k8s.IsForbidden(err) {
				seen.end("", err)
			}
		}
		_ = r.o.Kube.WatchPods(ctx, k8s.WatchRequest{Namespaces: []string{r.o.Namespace}, Selector: nameLabel + "=" + seen.owner, OnError: forbidden}, func(e k8s.PodEvent) {
			if waits := seen.podChanged(e); waits != "" {
				r.says(waits)
			}
		})
	})
	watching.Go(func() {
		_ = r.o.Kube.WatchEvents(ctx, k8s.WatchRequest{Namespaces: []string{r.o.Namespace}}, seen.event)
	})
	select {
	case <-seen.done:
		return seen.pod, seen.err
	case <-ctx.Done():
		if err := context.Cause(ctx); !errors.Is(err, errTooLong) {
			return "", err
		}
		return "", fmt.Errorf("the registry has not started within %s: %s", startLimit, r.waiting())
	}
}

// errTooLong ends a wait.
var errTooLong = errors.New("too long")

// pending is a wait for a pod of an owner. The watches of pods and of events share it.
type pending struct {
	owner string
	hash  string    // of the template of its pods; empty for any
	since time.Time // older events are about earlier pods

	once sync.Once
	done chan struct{} // closed once the wait is over: pod and err are valid then
	pod  string
	err  error
}

func newPending(owner string) *pending {
	return &pending{owner: owner, since: time.Now(), done: make(chan struct{})}
}

// end ends the wait; only the first call counts.
func (w *pending) end(pod string, err error) {
	w.once.Do(func() {
		w.pod, w.err = pod, err
		close(w.done)
	})
}

// podChanged looks at a pod, and returns the thing that it waits for; empty for a pod that is not meant.
func (w *pending) podChanged(e k8s.PodEvent) (waits string) {
	old := w.hash != "" && e.Pod.TemplateHash != w.hash
	if gone := e.Deleted || e.Pod.Deleting; gone || old {
		return ""
	}
	if e.Pod.Ready {
		w.end(e.Pod.Name, nil)
		return ""
	}
	for _, c := range e.Pod.Containers {
		if slices.Contains(noImage, c.Reason) {
			w.end("", problem.Wrap(errors.New(c.Message), "the nodes cannot pull the image of the registry, "+c.Image,
				"name an image of the registry that they can pull: builder(\"kubernetes\", registry=True, registry_image=\"registry.example.com/registry:3\")").See("builders"))
		}
	}
	waits = e.Pod.Name + ", " + e.Pod.Status
	if e.Pod.Message != "" {
		waits += ": " + e.Pod.Message
	}
	return waits
}

// noImage are the reasons of containers whose image is not had.
var noImage = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName"}

// event looks at an event: a pod that the cluster does not admit is made by no retry.
func (w *pending) event(e k8s.KubeEvent) {
	refused := e.Reason == "FailedCreate" && e.Object.Name == w.owner
	if refused && e.LastSeen.After(w.since.Add(-eventAge)) {
		w.end("", problem.Wrap(errors.New(e.Message), "the cluster does not let nodes reach a registry of hone",
			"keep the registry in a namespace that admits ports of nodes: builder(\"kubernetes\", registry=True, namespace=…), or name a registry with default_registry").See("builders"))
	}
}

// eventAge is the greatest difference between the clocks of this machine and of the cluster.
var eventAge = startLimit / 10
