package tiltfile

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/tiltfile/memo"
	"github.com/hone-dev/hone/internal/tiltfile/yamlstream"
)

// benchYAML is the YAML of one resource of ordinary size: a Deployment, a Service and a ConfigMap.
const benchYAML = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: svc%[1]d
  labels: {app: svc%[1]d, team: shop}
spec:
  replicas: 1
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
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: svc%[1]d
data:
  config.yaml: |
    level: debug
    peers: [a, b, c]
---
`

// benchProject writes a Tiltfile that declares a number of resources in plain YAML, one file each, and returns its
// path.
func benchProject(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	for i := range n {
		benchEdit(b, dir, i, 1)
	}
	text := fmt.Sprintf("for i in range(%d):\n  k8s_yaml('svc%%d.yaml' %% i)\n  k8s_resource('svc%%d' %% i, port_forwards=8000+i)\n", n)
	writeFile(b, filepath.Join(dir, "Tiltfile"), []byte(text))
	return filepath.Join(dir, "Tiltfile")
}

// benchEdit writes the YAML of a resource with a number of replicas.
func benchEdit(b *testing.B, dir string, i, replicas int) {
	text := strings.Replace(fmt.Sprintf(benchYAML, i), "replicas: 1", fmt.Sprint("replicas: ", replicas), 1)
	writeFile(b, filepath.Join(dir, fmt.Sprintf("svc%d.yaml", i)), []byte(text))
}

func benchLoad(b *testing.B, n int, o Options) {
	b.Helper()
	if res := Load(b.Context(), o); res.Err != nil || len(res.Manifests) != n+1 {
		b.Fatal(len(res.Manifests), res.Err)
	}
}

var benchSizes = []int{10, 100, 300, 1000}

// BenchmarkLoad evaluates a Tiltfile with all YAML in one file for the first time.
func BenchmarkLoad(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			var all strings.Builder
			for i := range n {
				fmt.Fprintf(&all, benchYAML, i)
			}
			writeFile(b, filepath.Join(dir, "all.yaml"), []byte(all.String()))
			text := fmt.Sprintf("k8s_yaml('all.yaml')\nfor i in range(%d):\n  k8s_resource('svc%%d' %% i, port_forwards=8000+i)\n", n)
			writeFile(b, filepath.Join(dir, "Tiltfile"), []byte(text))
			for b.Loop() {
				benchLoad(b, n, Options{Path: filepath.Join(dir, "Tiltfile")})
			}
		})
	}
}

// BenchmarkReload evaluates a Tiltfile with a file per resource again after an edit of one of them.
func BenchmarkReload(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path, memo := benchProject(b, n), memo.New()
			benchLoad(b, n, Options{Path: path, Memo: memo})
			replicas := 1
			for b.Loop() {
				replicas++
				benchEdit(b, filepath.Dir(path), n/2, replicas)
				benchLoad(b, n, Options{Path: path, Memo: memo})
			}
		})
	}
}

// BenchmarkReadYAML only reads the same YAML, as the Kubernetes clients do: the work that no evaluation can avoid.
func BenchmarkReadYAML(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var docs [][]byte
			for i := range n {
				for _, d := range yamlstream.Split(fmt.Sprintf(benchYAML, i)) {
					docs = append(docs, []byte(d.Text))
				}
			}
			for b.Loop() {
				for _, d := range docs {
					if _, err := yaml.YAMLToJSON(d); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
