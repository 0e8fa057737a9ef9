package tiltfile

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
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

// BenchmarkLoad evaluates Tiltfiles that declare so many resources in plain YAML.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{10, 100, 300, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			var yaml strings.Builder
			for i := range n {
				fmt.Fprintf(&yaml, benchYAML, i)
			}
			writeFile(b, filepath.Join(dir, "all.yaml"), []byte(yaml.String()))
			text := fmt.Sprintf("k8s_yaml('all.yaml')\nfor i in range(%d):\n  k8s_resource('svc%%d' %% i, port_forwards=8000+i)\n", n)
			writeFile(b, filepath.Join(dir, "Tiltfile"), []byte(text))
			for b.Loop() {
				res := Load(b.Context(), Options{Path: filepath.Join(dir, "Tiltfile")})
				if res.Err != nil || len(res.Manifests) != n+1 {
					b.Fatal(len(res.Manifests), res.Err)
				}
			}
		})
	}
}
