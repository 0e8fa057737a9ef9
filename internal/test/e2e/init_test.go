package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// pythonServer answers each request with the text that it was started with.
const pythonServer = `
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"one")


HTTPServer(("", $PORT0), Handler).serve_forever()
`

const nodeServer = `
require("node:http").createServer((request, response) => response.end("one")).listen($PORT0);
`

// app returns a Deployment of an image that listens on $PORT0.
func app(image string) string {
	return deployment("app", `
terminationGracePeriodSeconds: 0
containers:
- {name: app, image: `+image+`, ports: [{containerPort: $PORT0}]}
`)
}

// initialized are projects as people have them, without a Tiltfile. source is a file with the text "one", which the project answers.
var initialized = []struct {
	name, files, source string
	args                []string
	// compose is set for a project whose services run in the engine; still for one without a live update: the process of a local
	// resource reads its files itself.
	compose, still bool
}{
	{name: "a script", source: "server.py", files: `
-- Dockerfile --
FROM python:3.13-slim
WORKDIR /app
COPY server.py .
CMD ["python3", "-u", "server.py"]
-- server.py --
` + pythonServer + `-- app.yaml --
` + app("acme/script")},
	{name: "python with requirements and overlays", source: "src/server.py", files: `
-- Dockerfile --
FROM python:3.13-slim
WORKDIR /code
COPY requirements.txt .
COPY src /code/src
CMD ["python3", "-u", "src/server.py"]
-- requirements.txt --
-- src/server.py --
` + pythonServer + `-- deploy/base/kustomization.yaml --
resources: [app.yaml]
-- deploy/base/app.yaml --
` + app("acme/code") + `-- deploy/overlays/dev/kustomization.yaml --
resources: [../../base]
-- deploy/overlays/prod/kustomization.yaml --
resources: [../../base]
`},
	{name: "node with npm install", source: "index.js", files: `
-- Dockerfile --
FROM node:22-slim
WORKDIR /app
COPY package.json .
RUN npm install
COPY . .
CMD ["npm", "start"]
-- package.json --
{"name": "app", "scripts": {"start": "node index.js"}}
-- index.js --
` + nodeServer + `-- k8s/app.yml --
` + app("registry.example.com/acme/front:v1")},
	{name: "node that watches itself", source: "index.js", files: `
-- Dockerfile --
FROM node:22-slim
WORKDIR /app
COPY package.json index.js ./
CMD ["node", "--watch", "index.js"]
-- package.json --
{"name": "app"}
-- index.js --
` + nodeServer + `-- app.yaml --
` + app("app")},
	{name: "ruby", source: "server.rb", files: `
-- Dockerfile --
FROM ruby:3.3-slim
WORKDIR /app
COPY Gemfile .
COPY server.rb .
CMD ["ruby", "server.rb"]
-- Gemfile --
-- server.rb --
require "socket"
server = TCPServer.new("0.0.0.0", $PORT0)
loop do
  client = server.accept
  while (line = client.gets) && line != "\r\n"; end
  client.write "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\none"
  client.close
end
-- app.yaml --
` + app("acme/ruby")},
	{name: "php", source: "public/index.php", files: `
-- Dockerfile --
FROM php:8.3-cli
COPY public /app
CMD ["php", "-S", "0.0.0.0:$PORT0", "-t", "/app"]
-- composer.json --
{}
-- public/index.php --
<?php echo "one";
-- app.yaml --
` + app("acme/php")},
	{name: "files that are served", source: "site/index.html", files: `
-- Dockerfile --
FROM busybox
COPY site /www
CMD ["httpd", "-f", "-p", "$PORT0", "-h", "/www"]
-- site/index.html --
one
-- app.yaml --
` + app("acme/site")},
	{name: "a monorepo of two services", source: "services/front/index.html", files: `
-- services/front/Dockerfile --
FROM busybox
COPY index.html /www/
CMD ["httpd", "-f", "-p", "$PORT0", "-h", "/www"]
-- services/front/index.html --
one
-- services/back/Dockerfile --
FROM busybox
CMD ["sleep", "100000"]
-- deploy/front.yaml --
` + app("acme/front") + `-- deploy/back.yaml --
` + deployment("back", `
terminationGracePeriodSeconds: 0
containers: [{name: back, image: acme/back}]
`)},
	{name: "skaffold", source: "web/index.html", files: `
-- skaffold.yaml --
apiVersion: skaffold/v4beta11
kind: Config
build:
  artifacts:
  - image: acme/web
    context: web
    docker: {dockerfile: Dockerfile.dev}
    sync: {manual: [{src: "*.html", dest: /www}]}
manifests: {rawYaml: [k8s/*.yaml]}
portForward: [{resourceType: deployment, resourceName: app, port: $PORT0}]
-- web/Dockerfile.dev --
FROM busybox
COPY index.html /www/
CMD ["httpd", "-f", "-p", "$PORT0", "-h", "/www"]
-- web/index.html --
one
-- k8s/app.yaml --
` + app("acme/web")},
	{name: "an old skaffold with kustomize", source: "web/index.html", files: `
-- skaffold.yaml --
apiVersion: skaffold/v1beta17
kind: Config
build: {artifacts: [{image: acme/web, context: web}]}
deploy: {kustomize: {path: k8s}}
-- web/Dockerfile --
FROM busybox
COPY index.html /www/
CMD ["httpd", "-f", "-p", "$PORT0", "-h", "/www"]
-- web/index.html --
one
-- k8s/kustomization.yaml --
resources: [app.yaml]
-- k8s/app.yaml --
` + app("acme/web")},
	{name: "devspace", source: "index.js", files: `
-- devspace.yaml --
version: v2beta1
name: app
images: {app: {image: acme/app, dockerfile: ./Dockerfile}}
deployments: {app: {kubectl: {manifests: [manifests/]}}}
dev: {app: {imageSelector: acme/app, sync: [{path: ./}], ports: [{port: "$PORT0"}]}}
-- Dockerfile --
FROM node:22-slim
WORKDIR /app
COPY . .
CMD ["node", "index.js"]
-- package.json --
{"name": "app"}
-- index.js --
` + nodeServer + `-- manifests/app.yaml --
` + app("acme/app")},
	{name: "an old devspace", source: "site/index.html", files: `
-- devspace.yaml --
version: v1beta11
images: {app: {image: acme/app}}
deployments: [{name: app, kubectl: {manifests: [app.yaml]}}]
-- Dockerfile --
FROM busybox
COPY site /www
CMD ["httpd", "-f", "-p", "$PORT0", "-h", "/www"]
-- site/index.html --
one
-- app.yaml --
` + app("acme/app")},
	{name: "a chart", source: "site/index.html", files: `
-- chart/Chart.yaml --
{apiVersion: v2, name: app, version: 1.0.0}
-- chart/values.yaml --
image: {repository: acme/app, tag: latest}
port: 1
-- chart/values-dev.yaml --
port: $PORT0
-- chart/templates/app.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  strategy: {type: Recreate}
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      terminationGracePeriodSeconds: 0
      hostNetwork: true
      containers:
      - {name: app, image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}", args: [httpd, -f, -p, "127.0.0.1:{{ .Values.port }}", -h, /www]}
-- Dockerfile --
FROM busybox
COPY site /www
-- site/index.html --
one
`},
	{name: "compose as kubernetes", source: "web/index.html", args: []string{"--compose", "kubernetes"}, files: `
-- compose.yaml --
services:
  web:
    build: web
    ports: ["$PORT0:$PORT0"]
    depends_on: [cache]
    environment: {LEVEL: debug}
  cache:
    image: busybox
    command: sleep 100000
    volumes: [/data]
-- web/Dockerfile --
FROM busybox
COPY index.html /www/
CMD ["httpd", "-f", "-p", "$PORT0", "-h", "/www"]
-- web/index.html --
one
`},
	{name: "compose as it is", source: "web/index.html", compose: true, files: `
-- compose.yaml --
name: $PROJECT
services:
  web:
    image: $PROJECT-web
    build: web
    stop_signal: SIGKILL
    ports: ["127.0.0.1:$PORT0:$PORT0"]
-- web/Dockerfile --
FROM busybox
COPY index.html /www/
CMD ["httpd", "-f", "-p", "$PORT0", "-h", "/www"]
-- web/index.html --
one
`},
	{name: "compose with a process to restart", source: "web/server.py", compose: true, files: `
-- docker-compose.yml --
name: $PROJECT
services:
  web:
    image: $PROJECT-web
    build: {context: ., dockerfile: web/Dockerfile}
    stop_signal: SIGKILL
    ports: ["127.0.0.1:$PORT0:$PORT0"]
-- web/Dockerfile --
FROM python:3.13-slim
WORKDIR /app
COPY web .
CMD ["python3", "-u", "server.py"]
-- web/server.py --
` + pythonServer},
	{name: "a procfile", source: "site/index.html", still: true, files: `
-- Procfile --
web: python3 -m http.server $PORT0 --bind 127.0.0.1 --directory site
-- site/index.html --
one
`},
	{name: "npm scripts", source: "index.js", still: true, files: `
-- package.json --
{"name": "app", "scripts": {"dev": "node --watch index.js"}}
-- index.js --
` + nodeServer},
	{name: "go in one stage", source: "main.go", files: `
-- Dockerfile --
FROM golang:1.26
WORKDIR /src
COPY go.mod .
COPY main.go .
RUN CGO_ENABLED=0 GOFLAGS=-mod=mod go build -o /server .
CMD ["/server"]
-- go.mod --
module example.com/app

go 1.25
-- main.go --
` + goServer + `-- app.yaml --
` + app("acme/go")},
	{name: "go in two stages", source: "cmd/server/main.go", files: `
-- Dockerfile --
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -o /out/server ./cmd/server

FROM scratch
COPY --from=build /out/server /server
ENTRYPOINT ["/server"]
-- go.mod --
module example.com/app

go 1.25
-- cmd/server/main.go --
` + goServer + `-- app.yaml --
` + app("acme/go")},
}

const goServer = `
package main

import (
	"io"
	"net/http"
)

func main() {
	_ = http.ListenAndServe(":$PORT0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "one") }))
}
`

// TestInit: hone init writes a Tiltfile for each project that hone ci brings up, and with which a saved file gets into the running
// container.
func TestInit(t *testing.T) {
	for _, tc := range initialized {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var p *project
			switch {
			case tc.compose:
				p = newComposeProject(t, tc.files).project
			case tc.still:
				if _, err := exec.LookPath("node"); err != nil {
					t.Skip("needs node on this machine")
				}
				p = newLocalProject(t, tc.files)
			default:
				p = newProject(t, tc.files)
				p.env = append(p.env, "PATH="+helmFolder(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
			}
			if out, code := p.run(append([]string{"init"}, tc.args...)...); code != 0 {
				t.Fatalf("init: %d\n%s", code, out)
			}
			run := []string{"ci", "--port", "none"}
			if p.namespace != "" {
				run = append(run, "--namespace", p.namespace)
			}
			if out, code := p.run(run...); code != 0 {
				t.Fatalf("ci: %d\n%s", code, out)
			}
			s := p.up()
			s.says(`Successfully loaded Tiltfile`)
			s.hone("wait", "--for=condition=Ready", "--for=condition=UpToDate", "uiresources", "--all", "--timeout=90s")
			s.serves(p.ports[0], "/", "one")
			p.replace(tc.source, "one", "two")
			s.serves(p.ports[0], "/", "two")
			if !tc.still {
				s.says(`→ \S+ of \S+: `)
			}
		})
	}
}
