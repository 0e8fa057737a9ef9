package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// serving is a web server that serves until its grace period is over, and the Service before it.
const serving = `apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  selector: {matchLabels: {app: LABEL}}
  template:
    metadata: {labels: {app: LABEL}}
    spec:
      terminationGracePeriodSeconds: 5
      containers:
      - name: main
        image: busybox
        imagePullPolicy: IfNotPresent
        command: [sh, -c, 'mkdir /www; echo NAME > /www/index.html; exec httpd -f -h /www']
        readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: shop}
spec: {selector: {app: LABEL}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {key: value}
`

// served is one way to declare the server: the name of its Deployment, its label, and the name of the resource.
type served struct{ name, label, resource string }

// renames go round: the Deployment gets another name, then the resource, then the Deployment with its labels and the Service's selector,
// then the Deployment within the same resource.
var renames = []served{{"web-a", "shop", "web-a"}, {"web-b", "shop", "web-b"}, {"web-b", "shop", "shop"}, {"web-d", "shop-d", "web-d"}, {"web-e", "shop-e", "web-d"}}

func (s served) write(p *project) {
	p.write("web.yaml", strings.NewReplacer("NAME", s.name, "LABEL", s.label).Replace(serving))
	// A Service is switched to pods that are not ready after this time, and pods of a busy cluster may take long.
	p.write("Tiltfile", fmt.Sprintf("update_settings(k8s_upsert_timeout_secs=300)\nk8s_yaml('web.yaml')\nk8s_resource('%s', new_name='%s', objects=['conf:configmap'])\n", s.name, s.resource))
}

// TestReplacementIsReadyFirst renames a resource and its objects 50 times, with -short five times, beside a client that sends
// requests without a pause: no request fails, the Service and the ConfigMap, which only change hands, stay the same objects, and no
// object is left behind (V4).
func TestReplacementIsReadyFirst(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\n")
	renames[0].write(p)
	s := p.up()
	s.says(`web-a:deployment`)
	k8stest.Eventually(t, "the first server", func() error { return available(p.live("deployment/web-a")) })
	stay := []string{"service/shop", "configmap/conf"}
	uids := p.uids(append(stay, "deployment/web-a"))
	ip, _, _ := unstructured.NestedString(p.live("service/shop").Object, "spec", "clusterIP")
	c := askAlways(t, "http://"+ip)
	k8stest.Eventually(t, "the first answer", func() error {
		if n, _ := c.so(); n == 0 {
			return errors.New("none yet")
		}
		return nil
	})
	was, rounds := renames[0], 50
	if testing.Short() {
		rounds = len(renames)
	}
	for round := 1; round <= rounds; round++ {
		now := renames[round%len(renames)]
		now.write(p)
		s.await(fmt.Sprintf("round %d: %s served as %s, and %s gone", round, now.name, now.resource, was.name), func() error {
			if err := available(p.live("deployment/" + now.name)); err != nil {
				return err
			}
			if now.name != was.name && p.live("deployment/"+was.name) != nil {
				return errors.New("its predecessor is still there")
			}
			return nil
		})
		s.settled()
		p.present(stay, uids)
		if now.name == was.name {
			p.present([]string{"deployment/" + now.name}, uids)
		}
		uids = p.uids(append(stay, "deployment/"+now.name))
		was = now
		if n, failed := c.so(); len(failed) > 0 {
			t.Fatalf("round %d: %d of %d requests failed: %v", round, len(failed), n, failed[:min(3, len(failed))])
		}
	}
	n, _ := c.so()
	t.Logf("%d requests", n)
}

// available returns why a Deployment has no available pod.
func available(d *unstructured.Unstructured) error {
	if d == nil {
		return errors.New("it does not exist")
	}
	if n, _, _ := unstructured.NestedInt64(d.Object, "status", "availableReplicas"); n == 0 {
		return errors.New("it is not available")
	}
	return nil
}

// asker asks an address without a pause, each time over a new connection.
type asker struct {
	mu     sync.Mutex
	asked  int     // guarded by mu
	failed []error // guarded by mu
}

// askAlways starts an asker that ends with the test. Failures before the first success do not count: the nodes have to learn of the
// Service first.
func askAlways(t *testing.T, url string) *asker {
	a := &asker{}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
		for ctx.Err() == nil {
			err := get(ctx, client, url)
			if ctx.Err() != nil {
				return
			}
			a.mu.Lock()
			if err != nil && a.asked == 0 {
				a.mu.Unlock()
				continue
			}
			a.asked++
			if err != nil {
				a.failed = append(a.failed, err)
			}
			a.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return a
}

func get(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(string(body), "web-") {
		return fmt.Errorf("%s: %q, %w", resp.Status, body, err)
	}
	return nil
}

// so returns how many requests were made, and the errors of those that failed.
func (a *asker) so() (int, []error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked, a.failed
}

// TestKilledHandOver kills a session while the old Deployment waits for its replacement, which is applied and not ready. The next
// session continues the wait.
func TestKilledHandOver(t *testing.T) {
	t.Parallel()
	declare := func(p *project, name, command string) {
		p.write("web.yaml", deployment(name, "terminationGracePeriodSeconds: 0\ncontainers:\n- name: main\n  image: busybox\n  command: [sh, -c, '"+command+
			"']\n  readinessProbe: {exec: {command: [test, -e, /tmp/ready]}, periodSeconds: 1}\n"))
		p.write("Tiltfile", "k8s_yaml('web.yaml')\n")
	}
	p := newProject(t, "-- Tiltfile --\n")
	declare(p, "old", "touch /tmp/ready; exec sleep 100000")
	s := p.up()
	s.ready("old")
	declare(p, "new", "exec sleep 100000")
	s.says(`The objects of old, which the Tiltfile no longer declares, are deleted when their replacements are ready`)
	s.builds("new", 1) // it is applied
	old := p.uids([]string{"deployment/old"})
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.done
	next := p.up()
	next.says(`The objects of old, which the Tiltfile no longer declares, are deleted when their replacements are ready: \S*deployment/new`)
	next.builds("new", 1)
	next.settled()
	p.present([]string{"deployment/old"}, old)
	k8stest.Eventually(t, "the replacement's container to run", func() error {
		d := p.live("deployment/new")
		if n, _, _ := unstructured.NestedInt64(d.Object, "status", "unavailableReplicas"); n != 1 {
			return errors.New("its pod is not there")
		}
		return exec.Command("kubectl", "--namespace", p.namespace, "exec", "deployment/new", "--", "touch", "/tmp/ready").Run()
	})
	p.gone("apps", "v1", "deployments", "old")
	next.ready("new")
}
