package builderpod

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// bring makes the cluster run the builder, and returns the name of its pod once the daemon answers.
func (d *Daemon) bring(ctx context.Context) (pod string, err error) {
	plan, err := d.climb(ctx, func(p Plan) (why string, err error) {
		pod, why, err = d.begin(ctx, p)
		return why, err
	})
	if err != nil {
		return "", err
	}
	d.taken(plan)
	return pod, nil
}

// taken notes the mode in which the daemon runs. The reasons against others are kept where this start has not asked again.
func (d *Daemon) taken(p Plan) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.plan.Mode != p.Mode || len(p.Against) > 0 {
		d.plan = p
	}
}

// begin deploys the builder, and waits until the daemon answers. why is the reason if it cannot run in this mode.
func (d *Daemon) begin(ctx context.Context, p Plan) (pod, why string, err error) {
	m, err := p.manifest(d.is, d.namespace)
	if err != nil {
		return "", "", err
	}
	d.says("%s, its objects are applied", p.Mode)
	applied, err := d.deploy(ctx, m, d.namespace)
	if err != nil {
		return "", "", err
	}
	hash := ""
	for _, o := range applied {
		if o.Kind == "Deployment" {
			hash = o.TemplateHash
		}
	}
	return d.await(ctx, p, hash)
}

// startLimit is the time after which a start has failed, as it is for other pods of a session. startTime is the time within which a daemon ends
// that cannot run: one that has run for longer has other reasons, such as its memory.
var (
	startLimit = model.DefaultCISettings.ReadinessTimeout
	startTime  = startLimit / 30
)

// waiting returns the thing that the start waits for.
func (d *Daemon) waiting() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.status
}

// outcome is the end of a wait.
type outcome struct {
	pod, why string
	err      error
}

// await waits until a pod of a template runs the daemon, or shows that it cannot.
func (d *Daemon) await(ctx context.Context, p Plan, hash string) (pod, why string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ends, seen := make(chan outcome, 1), &pending{hash: hash, pods: map[string]bool{}}
	end := func(o outcome, over bool) {
		if over {
			select {
			case ends <- o:
			default: // another one came first
			}
		}
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		forbidden := func(err error) { end(outcome{err: err}, k8s.IsForbidden(err)) }
		_ = d.kube.WatchPods(ctx, k8s.WatchRequest{Namespaces: []string{d.namespace}, Selector: selector(d.is.name), OnError: forbidden}, func(e k8s.PodEvent) {
			o, status, over := seen.podChanged(e)
			if status != "" {
				d.says("%s, %s", p.Mode, status)
			}
			end(o, over)
		})
	})
	watching.Go(func() {
		_ = d.kube.WatchEvents(ctx, k8s.WatchRequest{Namespaces: []string{d.namespace}}, func(e k8s.KubeEvent) { end(seen.event(e)) })
	})
	select {
	case <-ctx.Done():
		return "", "", context.Cause(ctx)
	case <-time.After(startLimit):
		return "", "", fmt.Errorf("it has not started within %s: %s", startLimit, d.waiting())
	case o := <-ends:
		cancel()
		if o.why != "" && o.pod != "" {
			o.why = d.lastWords(ctx, o)
		}
		return o.pod, o.why, o.err
	}
}

// lastWords returns the reason why a container has ended: the last line that it has logged, if there is one. The run that has ended may
// still be the newest one, or the kubelet may have removed its log.
func (d *Daemon) lastWords(ctx context.Context, o outcome) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTime)
	defer cancel()
	for _, previous := range []bool{false, true} {
		if text := d.lastLine(ctx, k8s.LogRequest{Namespace: d.namespace, Pod: o.pod, Container: container, Previous: previous}); text != "" {
			return o.why + ": " + text
		}
	}
	return o.why
}

// lastLine returns the last line of a log that says something; empty if there is none.
func (d *Daemon) lastLine(ctx context.Context, req k8s.LogRequest) (last string) {
	log, err := d.kube.Logs(ctx, req)
	if err != nil {
		return ""
	}
	defer log.Close()
	for in := bufio.NewScanner(log); in.Scan(); {
		_, text, _ := strings.Cut(in.Text(), " ") // behind the time
		if says := strings.TrimLeft(text, ": "); says != "" && !strings.HasPrefix(says, "exit status") {
			last = text
		}
	}
	return last
}

// pending is a wait for a pod. The watches of pods and of events share it.
type pending struct {
	hash string

	mu   sync.Mutex
	pods map[string]bool // the UIDs of the pods of the template; guarded by mu
}

// podChanged looks at a pod. over is set if the wait is, and status names the thing that the pod waits for.
func (w *pending) podChanged(e k8s.PodEvent) (o outcome, status string, over bool) {
	if gone := e.Deleted || e.Pod.Deleting; gone || e.Pod.TemplateHash != w.hash {
		return o, "", false
	}
	w.mu.Lock()
	w.pods[e.Pod.UID] = true
	w.mu.Unlock()
	if e.Pod.Ready {
		return outcome{pod: e.Pod.Name}, "", true
	}
	for _, c := range e.Pod.Containers {
		switch {
		case c.Reason == "ErrImagePull" || c.Reason == "ImagePullBackOff" || c.Reason == "InvalidImageName":
			return outcome{err: noImage(c)}, "", true
		case c.Reason == "CreateContainerError" || c.Reason == "RunContainerError" || c.Reason == "CreateContainerConfigError":
			return outcome{why: c.Message}, "", true
		case c.Restarts > 0 && c.LastFinishedAt.Sub(c.LastStartedAt) < startTime:
			return outcome{pod: e.Pod.Name, why: fmt.Sprintf("the daemon ends with exit code %d", c.LastExitCode)}, "", true
		}
	}
	status = e.Pod.Status
	if e.Pod.Message != "" {
		status += ": " + e.Pod.Message
	}
	return o, status, false
}

// event looks at an event: one that the sandbox of a pod could not be made is about the rights of the pod.
func (w *pending) event(e k8s.KubeEvent) (o outcome, over bool) {
	w.mu.Lock()
	ours := w.pods[e.ObjectUID]
	w.mu.Unlock()
	if !ours || e.Reason != "FailedCreatePodSandBox" || !strings.Contains(e.Message, "user namespace") {
		return o, false
	}
	return outcome{why: e.Message}, true
}

// noImage is the problem of nodes that cannot get the image.
func noImage(c model.Container) error {
	return problem.Wrap(errors.New(c.Message), "the nodes cannot pull the image of the builder, "+c.Image,
		"name an image of BuildKit that they can pull: builder(\"kubernetes\", image=\"registry.example.com/buildkit:"+Version+"-rootless\")").See("builders")
}
