package e2e

import "strings"

// deployment returns the YAML of a Deployment whose pods have the given spec, whose lines begin at the margin.
func deployment(name, spec string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + name + `}
spec:
  selector: {matchLabels: {app: ` + name + `}}
  template:
    metadata: {labels: {app: ` + name + `}}
    spec:
      ` + strings.ReplaceAll(strings.TrimSpace(spec), "\n", "\n      ") + "\n"
}

// web is a service that serves files with busybox: a Dockerfile, a Deployment, a Service, and a live update. The Tiltfile
// prints the value of a Secret, so that each test with it checks that hone shows it nowhere; see withholds.
var web = `
-- Tiltfile --
docker_build('web', '.', dockerfile='web.Dockerfile', only=['site', 'conf'],
    live_update=[fall_back_on('conf'), sync('site', '/www')])
k8s_yaml('web.yaml')
k8s_resource('web', port_forwards='$PORT0:80')
print('the key is', read_yaml('key.yaml')['stringData']['key'])
-- key.yaml --
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {key: mullet-4000-web}
-- web.Dockerfile --
FROM busybox
COPY site /www
COPY conf /conf
CMD ["httpd", "-f", "-v", "-h", "/www"]
-- site/index.html --
one
-- conf/settings --
a=1
-- web.yaml --
` + deployment("web", `
terminationGracePeriodSeconds: 0
containers:
- name: web
  image: web
  ports: [{containerPort: 80}]
  readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 1}
`) + `---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80}]
`

// nothing is a Deployment without pods, for tests that need an object but no process.
const nothing = `
-- Tiltfile --
k8s_yaml('app.yaml')
-- app.yaml --
` + appYAML

const appYAML = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  replicas: 0
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: app, image: busybox}]}
`
