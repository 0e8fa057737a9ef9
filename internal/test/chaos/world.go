//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/test/freeport"
	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/proxy"
)

// The project under faults: an image with a live update, objects without pods, and a local server.
const (
	tiltfile = `docker_build('%[1]s', '.', dockerfile='Dockerfile', only=['site', 'conf'], live_update=[fall_back_on('conf'), sync('site', '/site')])
k8s_yaml(['web.yaml', 'config.yaml'])
k8s_resource('web', port_forwards='%[2]d:80')
k8s_resource(new_name='config', objects=[%[3]s])
local_resource('server', serve_cmd='exec sleep 100000')
`
	dockerfile = `FROM busybox
COPY site /site
COPY conf /conf
RUN sleep $(cat /conf/slow)
CMD ["httpd", "-f", "-h", "/site"]
`
	webYAML = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: %[1]s}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`
	configMapYAML = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: %s}
data: {value: "%s"}
`
	configMaps = 6
	// resources is the number of resources of the project.
	resources = 3
)

// world is the environment of one scenario. It is for use by one goroutine at a time; methods that are exceptions say so.
type world struct {
	options
	cluster *harness.Cluster
	random  *rand.Rand
	// word is the name of the image, and marks every process that hone starts.
	word    string
	dir     string
	project *harness.Project
	gateway *proxy.Gateway
	remove  func() // removes the namespace
	port    int    // of the forward
	up      *harness.Session
	// declared holds the objects that the cluster should hold, by KIND/NAME: the value of a ConfigMap, empty for other
	// objects.
	declared map[string]string
	saves    int
	mounts   []string
	// did lists in short the actions of the scenario.
	did []string
}

// newWorld makes a world with the project in it. Call end even if it fails.
func newWorld(ctx context.Context, o options, cluster *harness.Cluster, random *rand.Rand) (*world, error) {
	w := &world{options: o, cluster: cluster, random: random, word: "hone-chaos-" + uuid.NewString()[:8]}
	var err error
	if w.dir, err = os.MkdirTemp("", w.word); err != nil {
		return w, err
	}
	ns, remove, err := cluster.Namespace(ctx, "hone-chaos-")
	if err != nil {
		return w, err
	}
	w.remove = remove
	if w.port, err = freeport.Next(); err != nil {
		return w, err
	}
	if w.project, err = harness.NewProject(o.hone, w.dir, ns, map[string]string{
		"Dockerfile": dockerfile, "web.yaml": fmt.Sprintf(webYAML, w.word, 1),
		"site/index.html": "at first\n", "conf/settings": "at first\n", "conf/slow": "0\n",
	}); err != nil {
		return w, err
	}
	temp := filepath.Join(w.dir, "tmp")
	w.project.Env = []string{mark + "=" + w.word, "TMPDIR=" + temp}
	w.declared = map[string]string{"Deployment/web": "", "Service/web": ""}
	var names []string
	for i := range configMaps {
		w.declared[fmt.Sprintf("ConfigMap/c%d", i)] = "at first"
		names = append(names, fmt.Sprintf("'c%d:configmap'", i))
	}
	return w, errors.Join(os.Mkdir(temp, 0o700), w.writeConfig(),
		w.project.Write("Tiltfile", fmt.Sprintf(tiltfile, w.word, w.port, strings.Join(names, ", "))))
}

// writeConfig writes the declared ConfigMaps.
func (w *world) writeConfig() error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(w.declared)) {
		if name, ok := strings.CutPrefix(key, "ConfigMap/"); ok {
			fmt.Fprintf(&b, configMapYAML, name, w.declared[key])
		}
	}
	return w.project.Write("config.yaml", b.String())
}

// note records an action.
func (w *world) note(format string, args ...any) { w.did = append(w.did, fmt.Sprintf(format, args...)) }

// explain adds the actions and hone's output to an error.
func (w *world) explain(err error) error {
	var b strings.Builder
	if len(w.did) > 0 {
		fmt.Fprintf(&b, "\nwhat was done: %s", strings.Join(w.did, ", "))
	}
	if w.up != nil && !strings.Contains(err.Error(), w.up.Out.String()) {
		fmt.Fprintf(&b, "\nhone's output:\n%s", w.up.Out)
	}
	return fmt.Errorf("%w%s", err, &b)
}

// end takes the world down, whatever state it is in.
func (w *world) end(ctx context.Context) error {
	var errs []error
	if w.gateway != nil {
		w.gateway.Close()
	}
	if w.up != nil {
		w.up.Kill()
	}
	errs = append(errs, endProcesses(w.word))
	if w.remove != nil {
		w.remove()
	}
	for _, m := range w.mounts {
		errs = append(errs, unmount(m))
	}
	harness.RemoveImages(ctx, w.word)
	harness.RemoveFromNode(ctx, w.containerd, w.word)
	return errors.Join(append(errs, os.RemoveAll(w.dir))...)
}

// between returns a random time between two.
func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.random.Int64N(int64(high-low)))
}

// throughGateway makes hone talk to the API server through a gateway from its next start on.
func (w *world) throughGateway() (err error) {
	w.project.Kubeconfig = filepath.Join(w.dir, "kubeconfig")
	w.gateway, err = w.cluster.Gateway(w.project.Kubeconfig, rand.New(rand.NewPCG(w.random.Uint64(), 0)))
	return err
}

// start begins a session.
func (w *world) start(args ...string) (err error) {
	w.up, err = w.project.Up(args...)
	return err
}

// ready waits until the whole project is up to date and running.
func (w *world) ready(ctx context.Context) error { return w.up.Ready(ctx, resources) }

// begin starts a session and waits until everything is ready.
func (w *world) begin(ctx context.Context) error {
	if err := w.start(); err != nil {
		return err
	}
	return w.ready(ctx)
}

// text returns content that no file has had yet.
func (w *world) text() string {
	w.saves++
	return fmt.Sprintf("save %d of %s\n", w.saves, w.word)
}

// saveFiles saves n files that are synced.
func (w *world) saveFiles(n int) error {
	for i := range n {
		if err := w.project.Write(fmt.Sprintf("site/f%d", i), w.text()); err != nil {
			return err
		}
	}
	return nil
}

// saveConfig changes every ConfigMap.
func (w *world) saveConfig() error {
	value := strings.TrimSpace(w.text())
	for key := range w.declared {
		if strings.HasPrefix(key, "ConfigMap/") {
			w.declared[key] = value
		}
	}
	return w.writeConfig()
}

// saveImage changes a file that requires a new image, whose build takes the given number of seconds.
func (w *world) saveImage(seconds int) error {
	return errors.Join(w.project.Write("conf/slow", fmt.Sprintln(seconds)), w.project.Write("conf/settings", w.text()))
}

// saveAll changes files of every kind.
func (w *world) saveAll() error { return errors.Join(w.saveFiles(5), w.saveConfig(), w.saveImage(0)) }
