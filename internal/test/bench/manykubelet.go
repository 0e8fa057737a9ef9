//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/hone-dev/hone/internal/base/retry"
)

const (
	// paperReporters is the number of status reports that a paperKubelet has on their way.
	paperReporters = 8
	// reportPause is the time after which a request is made again that failed.
	reportPause = 500 * time.Millisecond
)

// paperKubelet reports that the pods of a paperNode run, and serves their logs: one line, and silence from then on.
type paperKubelet struct {
	client   dynamic.Interface
	node     string
	listener net.Listener
	server   *http.Server
	served   chan struct{}
	// began is the time of each line.
	began time.Time
	// ended ends the streams.
	ended context.CancelFunc

	mu sync.Mutex
	// addresses counts the addresses of pods that were given away; guarded by mu.
	addresses int
}

// openPaperKubelet begins to serve logs at the address of a node. The caller closes it.
func openPaperKubelet(ctx context.Context, n *paperNode) (*paperKubelet, error) {
	certificate, err := servingCertificate(ctx, n.client, n.name, n.address)
	if err != nil {
		return nil, fmt.Errorf("get a certificate for the node: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(n.address, "0"))
	if err != nil {
		return nil, err
	}
	streams, ended := context.WithCancel(context.WithoutCancel(ctx))
	k := &paperKubelet{client: n.client, node: n.name, listener: listener, began: time.Now().UTC(), served: make(chan struct{}), ended: ended}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.serveLog)
	k.server = &http.Server{Handler: mux, TLSConfig: certificate, BaseContext: func(net.Listener) context.Context { return streams }}
	go func() {
		defer close(k.served)
		_ = k.server.ServeTLS(listener, "", "")
	}()
	return k, nil
}

func (k *paperKubelet) port() int { return k.listener.Addr().(*net.TCPAddr).Port }

func (k *paperKubelet) close() {
	k.ended()
	_ = k.server.Close()
	<-k.served
}

// serveLog serves a log of one line, which each container has written when the node was made.
func (k *paperKubelet) serveLog(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("previous") == "true" {
		http.Error(w, fmt.Sprintf("previous terminated container %q in pod %q not found", r.PathValue("container"), r.PathValue("pod")), http.StatusBadRequest)
		return
	}
	if since, err := time.Parse(time.RFC3339, r.FormValue("sinceTime")); err != nil || !k.began.Before(since) {
		stamp := ""
		if r.FormValue("timestamps") == "true" {
			stamp = k.began.Format(time.RFC3339Nano) + " "
		}
		fmt.Fprintf(w, "%sI am %s\n", stamp, r.PathValue("pod"))
	}
	if r.FormValue("follow") != "true" {
		return
	}
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// run reports for each pod of the node that it runs, until ctx is done.
func (k *paperKubelet) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := k.watch(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "run pods on node %s: %v\n", k.node, err)
			retry.Sleep(ctx, reportPause)
		}
	}
}

// watch reports until the watch ends. The next watch begins with all pods again.
func (k *paperKubelet) watch(ctx context.Context) error {
	events, err := k.client.Resource(pods).Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", k.node).String()})
	if err != nil {
		return err
	}
	defer events.Stop()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(paperReporters)
	for e := range events.ResultChan() {
		pod, ok := e.Object.(*unstructured.Unstructured)
		if !ok || e.Type != watch.Added {
			continue
		}
		if phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase"); phase == "Pending" {
			g.Go(func() error { return k.report(ctx, pod) })
		}
	}
	return g.Wait()
}

// report reports that a pod runs and is ready. An API server that is busy with the start of thousands may refuse: it is asked again.
func (k *paperKubelet) report(ctx context.Context, pod *unstructured.Unstructured) error {
	patch, err := json.Marshal(map[string]any{"status": k.status(pod)})
	if err != nil {
		return err
	}
	for {
		_, err := k.client.Resource(pods).Namespace(pod.GetNamespace()).Patch(ctx, pod.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		if err == nil || apierrors.IsNotFound(err) { // it has been deleted meanwhile
			return nil
		}
		if !retry.Sleep(ctx, reportPause) {
			return err
		}
	}
}

func (k *paperKubelet) status(pod *unstructured.Unstructured) map[string]any {
	now := time.Now().UTC().Format(time.RFC3339)
	var conditions, statuses []any
	for _, of := range []string{"PodScheduled", "Initialized", "ContainersReady", "Ready"} {
		conditions = append(conditions, map[string]any{"type": of, "status": "True", "lastTransitionTime": now})
	}
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	for _, c := range containers {
		c, _ := c.(map[string]any)
		id := strings.ReplaceAll(uuid.NewString()+uuid.NewString(), "-", "")
		statuses = append(statuses, map[string]any{"name": c["name"], "image": c["image"], "imageID": "", "containerID": "containerd://" + id,
			"ready": true, "started": true, "restartCount": 0, "state": map[string]any{"running": map[string]any{"startedAt": now}}})
	}
	ip := k.address()
	return map[string]any{"phase": "Running", "startTime": now, "podIP": ip, "podIPs": []any{map[string]any{"ip": ip}},
		"conditions": conditions, "containerStatuses": statuses}
}

// address returns an address for a pod. Nothing answers there.
func (k *paperKubelet) address() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.addresses++
	return fmt.Sprintf("198.18.%d.%d", k.addresses>>8&255, k.addresses&255)
}
