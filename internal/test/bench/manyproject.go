//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/uuid"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/hone-dev/hone/internal/test/harness"
)

const (
	// filesEach and podsEach are the numbers for each resource.
	filesEach, podsEach = 100, 5
	// lastOne is the resource in the last line of the table. Its name and the name of the first one, firstOne, have no letter at the same
	// place as another line's: a screen that changes from one to the other writes all of it.
	firstOne, lastOne = "app", "zyxwuq"
)

const manyTiltfile = `docker_build('%[1]s', 'app', only=['files'], live_update=[sync('app/files', '/files')])
k8s_yaml('app.yaml')
for i in range(%[2]d):
  custom_build('bench/svc-%%d' %% i, 'true', ['svc/%%d' %% i], tag='paper', skips_local_docker=True, disable_push=True)
`

const manyYAML = `apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[4]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      terminationGracePeriodSeconds: 0
      nodeSelector: {bench.hone.dev/paper: %[3]s}
      tolerations: [{operator: Exists}]
      containers: [{name: main, image: bench/svc-%[2]d}]
---
`

// manyProject is a project of many resources in several clusters. One resource more is real: its container runs on a machine.
type manyProject struct {
	*harness.Project
	dir  string
	word string
	// ends delete the namespaces.
	ends []func()
	n    int
}

// newManyProject makes the project. The caller removes it.
func newManyProject(ctx context.Context, b *bench, s shape, node string) (p *manyProject, err error) {
	p = &manyProject{word: "hone-bench-" + uuid.NewString()[:8]}
	if p.dir, err = os.MkdirTemp("", "hone-bench"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.remove(ctx)
		}
	}()
	var namespaces []string
	for range s.clusters {
		ns, end, err := b.cluster.namespace(ctx)
		if err != nil {
			return nil, err
		}
		namespaces, p.ends = append(namespaces, ns), append(p.ends, end)
	}
	if p.Project, err = harness.NewProject(b.hone, p.dir, namespaces[0], p.files(s, namespaces, node)); err != nil {
		return nil, err
	}
	p.Kubeconfig = filepath.Join(p.dir, "kubeconfig")
	return p, errors.Join(p.sources(s.resources), contexts(p.Kubeconfig, s.clusters))
}

// files returns the project without the watched files: the resources take turns in the clusters.
func (p *manyProject) files(s shape, namespaces []string, node string) map[string]string {
	yamls := make([]strings.Builder, s.clusters)
	for i := range s.resources {
		name := fmt.Sprintf("svc-%d", i)
		if i == s.resources-1 {
			name = lastOne
		}
		fmt.Fprintf(&yamls[i%s.clusters], manyYAML, name, i, node, podsEach)
	}
	out := map[string]string{"app/Dockerfile": fmt.Sprintf(savesDockerfile, p.word), "app/files/one": p.content(), "app.yaml": fmt.Sprintf(savesYAML, p.word)}
	var tiltfile strings.Builder
	fmt.Fprintf(&tiltfile, manyTiltfile, p.word, s.resources)
	for i := range yamls {
		file := fmt.Sprintf("%d.yaml", i)
		out[file] = yamls[i].String()
		if i == 0 {
			fmt.Fprintf(&tiltfile, "k8s_yaml('%s')\n", file)
			continue
		}
		name := manyContext(i)
		fmt.Fprintf(&tiltfile, "allow_k8s_contexts('%[1]s')\ncluster('%[1]s', namespace='%[2]s')\nk8s_yaml('%[3]s', cluster='%[1]s')\n", name, namespaces[i], file)
	}
	out["Tiltfile"] = tiltfile.String()
	return out
}

// manyContext names a context. The groups of the table are in the order of their names: firstOne is in the first one, which is the cluster
// of the session, and lastOne in the last.
func manyContext(i int) string { return fmt.Sprintf("zz%d", i) }

// sources writes the watched files, a kibibyte each.
func (p *manyProject) sources(resources int) error {
	for i := range resources {
		dir := filepath.Join(p.Dir, "svc", fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for f := range filesEach {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", f)), []byte(p.content()), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// content returns other content each time.
func (p *manyProject) content() string {
	p.n++
	head := fmt.Sprintf("save %d\n", p.n)
	return head + strings.Repeat("x", 1023-len(head)) + "\n"
}

// contexts writes a kubeconfig whose contexts all lead to the same API server, each with a cluster and a user of its own.
func contexts(path string, n int) error {
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	if err == nil {
		err = api.MinifyConfig(config)
	}
	if err == nil {
		err = api.FlattenConfig(config)
	}
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	own := config.Contexts[config.CurrentContext]
	for i := 1; i < n; i++ {
		name := manyContext(i)
		config.Clusters[name], config.AuthInfos[name] = config.Clusters[own.Cluster], config.AuthInfos[own.AuthInfo]
		config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	}
	return clientcmd.WriteToFile(*config, path)
}

// remove deletes the namespaces, the folder and the images.
func (p *manyProject) remove(ctx context.Context) {
	var all sync.WaitGroup
	for _, end := range p.ends {
		all.Go(end)
	}
	all.Wait()
	_ = os.RemoveAll(p.dir)
	harness.RemoveImages(context.WithoutCancel(ctx), p.word)
}
