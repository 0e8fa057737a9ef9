//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
)

// resourceYAML is a Deployment and a Service of ordinary size; %[1]d numbers them, and edits change %[2]d.
const resourceYAML = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: svc%[1]d
  labels: {app: svc%[1]d, team: shop}
spec:
  replicas: %[2]d
  selector:
    matchLabels: {app: svc%[1]d}
  template:
    metadata:
      labels: {app: svc%[1]d}
    spec:
      containers:
      - name: main
        image: registry.example.com/shop/svc%[1]d:v1
        args: ["--port", "8080", "--log", "debug"]
        ports:
        - containerPort: 8080
        env:
        - name: DATABASE_URL
          value: postgres://db:5432/svc%[1]d
        - name: POD
          valueFrom:
            fieldRef: {fieldPath: metadata.name}
        resources:
          requests: {cpu: 10m, memory: 32Mi}
        readinessProbe:
          httpGet: {path: /healthz, port: 8080}
---
apiVersion: v1
kind: Service
metadata:
  name: svc%[1]d
spec:
  selector: {app: svc%[1]d}
  ports:
  - port: 80
    targetPort: 8080
`

// evaluations is the number of measurements of each evaluation.
const evaluations = 15

// measureTiltfile evaluates Tiltfiles of several sizes, with a YAML file per resource: for the first time, and again after
// an edit of one file.
func measureTiltfile(ctx context.Context, b *bench) error {
	b.table.section("Tiltfile", "p50 / p90 / max (number of evaluations); promised for 300 resources: again in 50 ms",
		"baseline: the time that sigs.k8s.io/yaml takes for the same YAML in the same run, one document after the other")
	for _, n := range []int{10, 100, 300, 1000} {
		if err := b.measureProject(ctx, n); err != nil {
			return fmt.Errorf("%d resources: %w", n, err)
		}
	}
	return nil
}

func (b *bench) measureProject(ctx context.Context, n int) error {
	dir, err := os.MkdirTemp("", "hone-bench-tiltfile")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := evaluated{dir: dir, resources: n, memo: memo.New()}
	if err := p.write(); err != nil {
		return err
	}
	base, err := p.readYAML()
	if err != nil {
		return err
	}
	first, err := repeat(evaluations, func() error { return p.evaluate(ctx, nil) })
	if err != nil {
		return err
	}
	if err := p.evaluate(ctx, p.memo); err != nil {
		return err
	}
	var again times
	for i := range evaluations {
		if err := p.edit(n/2, 2+i); err != nil {
			return err
		}
		took, err := repeat(1, func() error { return p.evaluate(ctx, p.memo) })
		if err != nil {
			return err
		}
		again = append(again, took...)
	}
	b.table.print(row{fmt.Sprintf("%d resources, first", n), first.String(), ratio(first.median(), base, "YAML"), "Tilt: 160 ms for 300, 380 ms for 1000"})
	b.table.print(row{fmt.Sprintf("%d resources, one file edited", n), again.String(), ratio(again.median(), base, "YAML"), ""})
	return nil
}

// evaluated is a project with a YAML file per resource.
type evaluated struct {
	dir       string
	resources int
	memo      *memo.Memo
}

func (p *evaluated) write() error {
	for i := range p.resources {
		if err := p.edit(i, 1); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("for i in range(%d):\n  k8s_yaml('svc%%d.yaml' %% i)\n  k8s_resource('svc%%d' %% i, port_forwards=8000+i)\n", p.resources)
	return os.WriteFile(filepath.Join(p.dir, "Tiltfile"), []byte(text), 0o644)
}

// edit writes the file of a resource.
func (p *evaluated) edit(i, replicas int) error {
	return os.WriteFile(filepath.Join(p.dir, fmt.Sprintf("svc%d.yaml", i)), fmt.Appendf(nil, resourceYAML, i, replicas), 0o644)
}

func (p *evaluated) evaluate(ctx context.Context, memo *memo.Memo) error {
	res := tiltfile.Load(ctx, tiltfile.Options{Path: filepath.Join(p.dir, "Tiltfile"), Memo: memo})
	if res.Err == nil && len(res.Manifests) != p.resources {
		return fmt.Errorf("%d resources instead of %d", len(res.Manifests), p.resources)
	}
	return res.Err
}

// readYAML measures reading and parsing the YAML alone.
func (p *evaluated) readYAML() (time.Duration, error) {
	took, err := repeat(5, func() error {
		for i := range p.resources {
			data, err := os.ReadFile(filepath.Join(p.dir, fmt.Sprintf("svc%d.yaml", i)))
			if err != nil {
				return err
			}
			for doc := range strings.SplitSeq(string(data), "---\n") {
				if _, err := yaml.YAMLToJSON([]byte(doc)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return took.median(), err
}
