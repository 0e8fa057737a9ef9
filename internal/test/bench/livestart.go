//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
)

// startObjects is the number of objects in the project of the starts.
const startObjects = 100

// deploys measures the time that a session takes from its start until everything is applied and ready, in a project of 100 objects
// in 25 resources: the first time, when all are new, and the second time, when all exist as declared.
func (l *live) deploys(ctx context.Context, n int) (fresh, again times, err error) {
	for i := range n {
		files := map[string]string{"Tiltfile": "k8s_yaml('app.yaml')\n"}
		var yaml strings.Builder
		for o := range startObjects {
			name := fmt.Sprintf("start-%d-%d", i, o)
			fmt.Fprintf(&yaml, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {key: %q}\n---\n", name, strings.Repeat("value ", 50))
			if o%4 == 0 {
				files["Tiltfile"] += fmt.Sprintf("k8s_resource(new_name='%[1]s', objects=['%[1]s:configmap'])\n", name)
			}
		}
		files["app.yaml"] = yaml.String()
		dir := filepath.Join(filepath.Dir(l.project.Dir), fmt.Sprintf("start-%d", i))
		p, err := harness.NewProject(l.options.hone, dir, l.project.Namespace, files)
		if err != nil {
			return nil, nil, err
		}
		p.Kubeconfig = l.project.Kubeconfig
		for _, took := range []*times{&fresh, &again} {
			began := time.Now()
			if out, _, err := p.Output(ctx, "ci", "--port", "none", "--namespace", p.Namespace); err != nil {
				return nil, nil, fmt.Errorf("%w\n%s", err, out)
			}
			*took = append(*took, time.Since(began))
		}
		if out, _, err := p.Output(ctx, "down", "--namespace", p.Namespace); err != nil {
			return nil, nil, fmt.Errorf("%w\n%s", err, out)
		}
	}
	return fresh, again, nil
}
