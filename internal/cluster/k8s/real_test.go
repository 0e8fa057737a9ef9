package k8s_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/model"
)

func TestRealRegistry(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	c, err := r.Client.Detect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Registry.Empty() {
		t.Errorf("no registry detected: %+v", c)
	}
	if k8s.TooOld(c.Version) {
		t.Errorf("%s counts as too old", c.Version)
	}
}

// TestRealRollout watches a Deployment through a rollout, and walks from its pods to it.
func TestRealRollout(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	apps, err := appsv1client.NewForConfigAndClient(r.Client.RESTConfig(), r.Client.HTTPClient())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), k8stest.Patience)
	defer cancel()
	pods := make(chan k8s.PodEvent, 1000)
	objects := make(chan k8s.ObjectEvent, 1000)
	done := make(chan error, 2)
	wctx, stop := context.WithCancel(t.Context())
	req := k8s.WatchRequest{Namespaces: []string{r.Namespace}, OnError: func(err error) { t.Error(err) }}
	go func() { done <- r.Client.WatchPods(wctx, req, func(e k8s.PodEvent) { pods <- e }) }()
	go func() {
		done <- r.Client.WatchObjects(wctx, "apps/v1", "Deployment", req, func(e k8s.ObjectEvent) { objects <- e })
	}()
	defer func() {
		stop()
		for range 2 {
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	}()

	replicas := int32(2)
	spec := podSpec(server)
	spec.Containers[0].ReadinessProbe.InitialDelaySeconds = 0
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web", k8s.PodTemplateHashLabel: "one"}}, Spec: spec,
		},
	}}
	d, err = apps.Deployments(r.Namespace).Create(ctx, d, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ready := awaitPods(ctx, t, pods, "one", 2)
	awaitHealth(ctx, t, objects, model.HealthInProgress)
	awaitHealth(ctx, t, objects, model.HealthCurrent)
	for _, e := range ready {
		chain, err := r.Client.OwnerChain(ctx, k8s.OwnerRequest{Namespace: r.Namespace, Ref: e.Owners[0]})
		if err != nil || len(chain) != 2 || chain[0].Kind != "ReplicaSet" || chain[1].Kind != "Deployment" ||
			chain[1].UID != string(d.UID) || chain[0].CreatedAt.IsZero() || chain[0].Labels["app"] != "web" {
			t.Fatalf("owners of %s: %+v, %v", e.Pod.Name, chain, err)
		}
	}
	patch := `{"spec":{"template":{"metadata":{"labels":{"` + k8s.PodTemplateHashLabel + `":"two"}}}}}`
	if _, err := apps.Deployments(r.Namespace).Patch(ctx, "web", "application/merge-patch+json", []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitPods(ctx, t, pods, "two", 2)
	awaitHealth(ctx, t, objects, model.HealthInProgress)
	awaitHealth(ctx, t, objects, model.HealthCurrent)
}

// TestRealListedObject compares the event of an object that a watch lists with the event of the object as it is read alone.
func TestRealListedObject(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	manifest := `{apiVersion: apps/v1, kind: Deployment, metadata: {name: idle, labels: {app: idle}}, spec: {replicas: 0,
		selector: {matchLabels: {app: idle}}, template: {metadata: {labels: {app: idle}}, spec: {containers: [{name: c, image: busybox}]}}}}`
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		t.Fatal(err)
	}
	all := r.Client.Dynamic().Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace(r.Namespace)
	if _, err := all.Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// first returns the first event that a new watch has of the object, once it is current.
	first := func() (event k8s.ObjectEvent) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		seen := false
		err := r.Client.WatchObjects(ctx, "apps/v1", "Deployment", k8s.WatchRequest{Namespaces: []string{r.Namespace}}, func(e k8s.ObjectEvent) {
			if !seen && !e.Synced {
				seen, event = true, e
			}
			if e.Status.Health == model.HealthCurrent {
				stop()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return event
	}
	first()
	listed := first()
	u, err := all.Get(t.Context(), "idle", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := k8s.ObjectEventFrom(u); !reflect.DeepEqual(listed, want) || len(u.GetManagedFields()) == 0 {
		t.Errorf("listed as %+v, read as %+v", listed, want)
	}
}

// awaitPods waits until exactly n pods are there, all ready and of the given template.
func awaitPods(ctx context.Context, t *testing.T, events <-chan k8s.PodEvent, hash string, n int) []k8s.PodEvent {
	t.Helper()
	current := map[string]k8s.PodEvent{}
	for {
		select {
		case e := <-events:
			if e.Synced {
				continue
			}
			current[e.Pod.UID] = e
			if e.Deleted {
				delete(current, e.Pod.UID)
			}
		case <-ctx.Done():
			t.Fatalf("%d ready pods of template %s did not come: %+v", n, hash, current)
		}
		var ready []k8s.PodEvent
		for _, e := range current {
			if e.Pod.TemplateHash == hash && e.Pod.Ready && e.Pod.Status == "Running" {
				ready = append(ready, e)
			}
		}
		if len(ready) == n && len(current) >= n && (hash == "one" || len(current) == n) {
			return ready
		}
	}
}

func awaitHealth(ctx context.Context, t *testing.T, events <-chan k8s.ObjectEvent, health string) {
	t.Helper()
	for {
		select {
		case e := <-events:
			if e.Status.Health == health {
				return
			}
		case <-ctx.Done():
			t.Fatalf("the Deployment did not become %s", health)
		}
	}
}

// TestRealRestart follows a log to the end of a container, and finds it again as the previous one.
func TestRealRestart(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	r.startPod(t, "restart")
	ctx, cancel := context.WithTimeout(t.Context(), k8stest.Patience)
	defer cancel()
	req := k8s.LogRequest{Namespace: r.Namespace, Pod: "restart", Container: "main", Follow: true}
	log, err := r.Client.Logs(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	// The kill comes after the command has ended. Otherwise it would end the command together with the container.
	r.sh(t, "restart", `echo "last words" >/proc/1/fd/1; (sleep 0.2; kill 1) >/dev/null 2>&1 &`)
	text, err := io.ReadAll(log)
	if err != nil || !k8stest.HasLine(string(text), "last words") {
		t.Fatalf("the log ended with %v:\n%s", err, text)
	}
	k8stest.Eventually(t, "the restart", func() error {
		p, err := r.Core.Pods(r.Namespace).Get(ctx, "restart", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod := k8s.PodFromCore(p); pod.Restarts() == 0 || pod.Containers[0].LastID == "" || !pod.Ready {
			return errors.New("not restarted yet")
		}
		return nil
	})
	req.Previous, req.Follow = true, false
	prev, err := r.Client.Logs(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = prev.Close() }()
	if text, err = io.ReadAll(prev); err != nil || !k8stest.HasLine(string(text), "last words") {
		t.Errorf("the previous log: %v\n%s", err, text)
	}
}

// TestRealReplacedPod dials a pod that was replaced by one of the same name. Once the cluster has said that the old pod is gone, the next
// connection reaches the new one; without such an answer, which a pod that is just being taken down may owe, after ForgetPod.
func TestRealReplacedPod(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	r.startPod(t, "twin")
	ping := func(patience time.Duration) error {
		conn, err := r.Client.DialPod(t.Context(), r.Namespace, "twin", k8stest.EchoPort)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(patience))
		if _, err := io.WriteString(conn, "x"); err != nil {
			return err
		}
		_, err = io.ReadFull(conn, make([]byte, 1))
		return err
	}
	if err := ping(k8stest.Patience); err != nil {
		t.Fatal(err)
	}
	uid := func() string {
		p, err := r.Core.Pods(r.Namespace).Get(t.Context(), "twin", metav1.GetOptions{})
		if err != nil {
			return ""
		}
		return string(p.UID)
	}
	old := uid()
	r.deletePod(t, "twin")
	k8stest.Eventually(t, "its end", func() error {
		if uid() == old {
			return errors.New("still there")
		}
		return nil
	})
	r.startPod(t, "twin")
	// A connection into the network of a pod that is being taken down gets no answer at all.
	err := ping(2 * time.Second)
	for range 5 {
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		t.Logf("the old pod does not answer: %v", err)
		err = ping(2 * time.Second)
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Logf("the old pod is gone: %v", err)
		if err := ping(k8stest.Patience); err != nil {
			t.Error(err)
		}
	}
	r.Client.ForgetPod(r.Namespace, "twin")
	if err := ping(k8stest.Patience); err != nil {
		t.Error(err)
	}
}

// TestRealOutage cuts the connection to the server, deletes a pod meanwhile, and expects the watch to report it
// afterwards.
func TestRealOutage(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	r.startPod(t, "victim")
	var down atomic.Bool
	ends := make(chan context.CancelFunc, 100)
	proxy := newProxy(t, r.Client, func(w http.ResponseWriter, req *http.Request) bool {
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		ctx, cancel := context.WithCancel(req.Context())
		*req = *req.WithContext(ctx)
		ends <- cancel
		return false
	})
	c := r.behind(t, proxy)
	events := make(chan k8s.PodEvent, 100)
	failed := make(chan error, 100)
	ctx, cancel := context.WithTimeout(t.Context(), k8stest.Patience)
	done := make(chan error, 1)
	go func() {
		done <- c.WatchPods(ctx, k8s.WatchRequest{Namespaces: []string{r.Namespace}, OnError: func(err error) {
			select {
			case failed <- err:
			default:
			}
		}}, func(e k8s.PodEvent) { events <- e })
	}()
	await := func(what string, want func(k8s.PodEvent) bool) {
		t.Helper()
		for {
			select {
			case e := <-events:
				if want(e) {
					return
				}
			case err := <-done:
				t.Fatalf("waiting for %s: %v", what, err)
			}
		}
	}
	await("synced", func(e k8s.PodEvent) bool { return e.Synced })
	down.Store(true)
	for len(ends) > 0 {
		(<-ends)()
	}
	select {
	case err := <-failed:
		t.Logf("told: %v", err)
	case <-ctx.Done():
		t.Fatal("no error was told")
	}
	r.deletePod(t, "victim")
	down.Store(false)
	await("the deletion", func(e k8s.PodEvent) bool { return e.Deleted && e.Pod.Name == "victim" })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRealForbidden sends requests as a user without any permissions.
func TestRealForbidden(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	c := r.behind(t, newProxy(t, r.Client, func(_ http.ResponseWriter, req *http.Request) bool {
		req.Header.Set("Impersonate-User", "nobody")
		return false
	}))
	got, err := c.Detect(t.Context())
	if err != nil || got.Version == "" || got.Nodes != 0 {
		t.Errorf("Detect: %+v, %v", got, err)
	}
	if err := c.Healthy(t.Context()); err != nil {
		t.Errorf("Healthy: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), k8stest.Patience)
	defer cancel()
	var told error
	err = c.WatchPods(ctx, k8s.WatchRequest{OnError: func(err error) { told = err; cancel() }}, func(e k8s.PodEvent) { t.Errorf("%+v", e) })
	if !errors.Is(err, context.Canceled) || !k8s.IsForbidden(told) {
		t.Errorf("WatchPods: %v, told %v", err, told)
	}
	err = c.Exec(t.Context(), k8s.ExecRequest{Namespace: r.Namespace, Pod: "any", Argv: []string{"true"}})
	if !k8s.IsForbidden(err) || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("Exec: %v", err)
	}
}

// TestRealQuickExec runs a command that prefers SPDY through a proxy that refuses it.
func TestRealQuickExec(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	r.startPod(t, "quick")
	var mu sync.Mutex
	var tried []string
	refuse := refusing("SPDY/3.1")
	c := r.behind(t, newProxy(t, r.Client, func(w http.ResponseWriter, req *http.Request) bool {
		if strings.HasSuffix(req.URL.Path, "/exec") {
			mu.Lock()
			tried = append(tried, req.Header.Get("Upgrade"))
			mu.Unlock()
		}
		return refuse(w, req)
	}))
	in := bytes.Repeat([]byte("input "), 100_000)
	for range 2 {
		var out bytes.Buffer
		err := c.Exec(t.Context(), k8s.ExecRequest{Namespace: r.Namespace, Pod: "quick", Argv: []string{"cat"}, Stdin: bytes.NewReader(in), Stdout: &out, Quick: true})
		if err != nil || !bytes.Equal(out.Bytes(), in) {
			t.Errorf("of %d bytes %d came back, %v", len(in), out.Len(), err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.ToLower(strings.Join(tried, " ")); got != "spdy/3.1 websocket websocket" {
		t.Errorf("tried %s", got)
	}
}

// TestRealOwnerBatch looks up the owners of a burst of objects, and counts the requests.
func TestRealOwnerBatch(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	const n = 20
	refs := make([]k8s.OwnerRef, n)
	for i := range refs {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "owner-"}}
		cm, err := r.Core.ConfigMaps(r.Namespace).Create(t.Context(), cm, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		refs[i] = k8s.OwnerRef{APIVersion: "v1", Kind: "ConfigMap", Name: cm.Name, UID: string(cm.UID), Controller: true}
	}
	var requests atomic.Int32
	c := r.behind(t, newProxy(t, r.Client, func(_ http.ResponseWriter, req *http.Request) bool {
		if strings.Contains(req.URL.Path, "/configmaps") {
			requests.Add(1)
		}
		return false
	}))
	for range 2 {
		for _, ref := range refs {
			chain, err := c.OwnerChain(t.Context(), k8s.OwnerRequest{Namespace: r.Namespace, Ref: ref})
			if err != nil || len(chain) != 1 || chain[0].UID != ref.UID || chain[0].CreatedAt.IsZero() {
				t.Fatalf("%+v: %+v, %v", ref, chain, err)
			}
		}
	}
	if got := requests.Load(); got > 5 {
		t.Errorf("%d requests for %d owners", got, n)
	}
	impostor := refs[0]
	impostor.UID = "0"
	if chain, err := c.OwnerChain(t.Context(), k8s.OwnerRequest{Namespace: r.Namespace, Ref: impostor}); len(chain) != 0 || err != nil {
		t.Errorf("an owner that was replaced: %+v, %v", chain, err)
	}
}

// TestRealMemory watches the most numerous objects of a cluster, and bounds the memory that is kept.
func TestRealMemory(t *testing.T) {
	r := newReal(t)
	const n = 300
	var g errgroup.Group
	g.SetLimit(20)
	for i := range n {
		g.Go(func() error {
			cm := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("many-%d", i), Labels: map[string]string{"hone-test": "many"}},
				Data:       map[string]string{"text": strings.Repeat("x", 10_000)},
			}
			_, err := r.Core.ConfigMaps(r.Namespace).Create(t.Context(), cm, metav1.CreateOptions{})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	before := heap()
	ctx, cancel := context.WithCancel(t.Context())
	synced, done := make(chan struct{}), make(chan error, 1)
	var seen atomic.Int32
	req := k8s.WatchRequest{Namespaces: []string{r.Namespace}, Selector: "hone-test=many"}
	go func() {
		done <- r.Client.WatchObjects(ctx, "v1", "ConfigMap", req, func(e k8s.ObjectEvent) {
			if e.Synced {
				close(synced)
				return
			}
			seen.Add(1)
		})
	}()
	select {
	case <-synced:
	case <-time.After(k8stest.Patience):
		t.Fatal("not synced")
	}
	// The server's own cache may have lagged behind the created objects: the rest comes as changes.
	k8stest.Eventually(t, "all objects", func() error {
		if got := seen.Load(); got != n {
			return fmt.Errorf("%d of %d", got, n)
		}
		return nil
	})
	if grown := heap() - before; grown > 2<<20 {
		t.Errorf("%d objects of 10 KB cost %d KB", n, grown>>10)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
