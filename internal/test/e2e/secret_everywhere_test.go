package e2e

import (
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/test/hostile"
)

// hidden are the values of TestSecretsShowNowhere, by where they are declared. None is a part of another one.
var hidden = map[string]string{
	"data":       "swordfish-9000",
	"stringData": "marlin=7000/xyz",
	"a line":     "barracuda in the second line",
	"registry":   "sturgeon-5000",
	"down_cmd":   "anchovy-3000",
	"kubeconfig": "lamprey-2000",
	"spare":      "halibut-1000",
	"others":     "grouper-6000", // which they put in the place of spare
}

// hiddenYAML has the values of hidden in $1 … $5, as a user would write them. Its Deployment prints them in several encodings and fails, and
// the API server refuses an object with an error that quotes one.
const hiddenYAML = `
-- Tiltfile --
secrets = read_yaml_stream('secrets.yaml')
token = secrets[1]['stringData']['token']
undo = secrets[1]['stringData']['undo']
print('it is', token)
k8s_yaml(['secrets.yaml', 'all.yaml'])
k8s_resource('web', objects=['db', 'more', 'pull'])
k8s_resource(new_name='bad', objects=['bad'])
local_resource('tool', ['sh', '-c', 'echo "$TOKEN"; echo "Basic $(printf "me:%s" "$TOKEN" | base64 -w0)"; cat no"$TOKEN"; exit 3'], env={'TOKEN': token},
               down_cmd=['sh', '-c', 'echo "undone with $0"; exit 1', undo])
local_resource('serves', serve_cmd='printf "%s\n" "$TOKEN"; exit 4', serve_env={'TOKEN': token}, links=['http://localhost/' + undo])
-- secrets.yaml --
apiVersion: v1
kind: Secret
metadata: {name: db}
data: {password: DATA64, spare: SPARE64}
---
apiVersion: v1
kind: Secret
metadata: {name: more}
stringData:
  token: STRINGDATA
  undo: DOWN
  file: |
    not secret
    SECONDLINE
---
apiVersion: v1
kind: Secret
metadata: {name: pull}
type: kubernetes.io/dockerconfigjson
stringData:
  .dockerconfigjson: '{"auths":{"registry.example":{"username":"me","password":"REGISTRY","auth":"AUTH64"}}}'
-- all.yaml --
apiVersion: v1
kind: Service
metadata: {name: bad}
spec: {type: DATA, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      imagePullSecrets: [{name: pull}]
      containers:
      - name: main
        image: busybox
        command: [sh, -c, 'for v in "$PASSWORD" "$TOKEN" "$AUTH" "$(cat /more/file)"; do for p in "" x xx; do echo "$p$v"; printf %s "$p$v!!" | base64 -w0; echo; done; done | tee /dev/termination-log; exit 1']
        env:
        - {name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}
        - {name: TOKEN, valueFrom: {secretKeyRef: {name: more, key: token}}}
        - {name: AUTH, valueFrom: {secretKeyRef: {name: pull, key: .dockerconfigjson}}}
        - {name: SAME, value: DATA}
        volumeMounts: [{name: more, mountPath: /more}]
      volumes: [{name: more, secret: {secretName: more}}]
`

// TestSecretsShowNowhere declares Secrets in all ways, lets programs print them and the session fail with them, and looks for each value in
// what hone prints, answers and leaves behind.
func TestSecretsShowNowhere(t *testing.T) {
	t.Parallel()
	auth := base64.StdEncoding.EncodeToString([]byte("me:" + hidden["registry"]))
	p := newProject(t, strings.NewReplacer("SPARE64", forms(hidden["spare"])[1], "DATA64", base64.StdEncoding.EncodeToString([]byte(hidden["data"])), "STRINGDATA", hidden["stringData"], "DATA", hidden["data"],
		"DOWN", hidden["down_cmd"], "SECONDLINE", hidden["a line"], "REGISTRY", hidden["registry"], "AUTH64", auth).Replace(hiddenYAML))
	p.secrets.add(slices.Collect(maps.Values(hidden))...)
	config, err := clientcmd.LoadFromFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Token = hidden["kubeconfig"] // beside the certificate, which lets the user in
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "KUBECONFIG="+file)

	text := forms(hidden["data"])[1]
	for _, declared := range []string{"data", "stringData", "a line", "registry", "down_cmd", "spare"} {
		text += hostile.All() + hidden[declared]
	}
	check(t, os.WriteFile(p.crashes(), []byte(text), 0o600))
	s := p.up("--verbose")
	s.says(`tool │.*Build Failed`)
	s.says(`bad │.*Build Failed`)
	s.says(`web │.*redacted secret more:file`)
	p.kubectl("annotate", "secret", "db", "of="+hidden["data"], `kubectl.kubernetes.io/last-applied-configuration={"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},`+
		`"data":{"password":"`+forms(hidden["data"])[1]+`","spare":"`+forms(hidden["others"])[1]+`"}}`)
	p.kubectl("patch", "secret", "db", "--field-manager", "kubectl-client-side-apply", "-p", `{"stringData":{"spare":"`+hidden["others"]+`"}}`)
	p.kubectl("patch", "secret", "db", "-p", `{"stringData":{"more":"`+hidden["stringData"]+`"}}`)
	p.kubectl("set", "env", "deployment/web", "SAME="+hidden["stringData"])
	port := fmt.Sprint(s.port)
	s.await("the drift to be seen", func() error {
		if out, _ := p.run("drift", "-o", "json"); !strings.Contains(out, "SAME") || !strings.Contains(out, `"data.spare"`) {
			return fmt.Errorf("it is %s", out)
		}
		return nil
	})
	plan, snapshot := filepath.Join(p.state, "plan.json"), filepath.Join(p.state, "snapshot.json")
	names, _ := p.run("api-resources", "-o", "name", "--port", port)
	kinds := strings.Join(strings.Fields(names), ",")
	for _, args := range [][]string{{"logs", "--port", port}, {"logs", "-o", "json", "--port", port}, {"events", "--follow=false", "-o", "json", "--port", port},
		{"get", kinds, "-o", "json", "--port", port}, {"get", kinds, "-o", "yaml", "--port", port}, {"describe", kinds, "--port", port}, {"drift"}, {"drift", "-o", "json"},
		{"preview", "-o", "plan=" + plan}, {"preview", "-o", "json"}, {"preview"}, {"snapshot", "create", snapshot, "--port", port}, {"snapshot", "view", "--stream", snapshot},
		{"dump", "engine", "--port", port}, {"dump", "webview", "--port", port}, {"dump", "logstore", "--port", port}, {"tiltfile"}, {"tiltfile", "-o", "json"}, {"doctor"}, {"doctor", "-o", "json"},
		{"sessions", "-o", "json"}} {
		out, _ := p.run(args...)
		p.withholds(fmt.Sprintf("hone %.60q", args), []byte(out))
	}
	for _, path := range []string{"view", "page?follow=false&detail=web", "page?follow=false&detail=tool", "page?follow=false&detail=bad", "logs?format=json", "logs?format=text", "logs/window?count=1000",
		"events?follow=false", "plan", "waits", "architecture"} {
		p.withholds("/api/"+path, s.answers("/api/"+path))
	}
	p.withholds("hone up", []byte(s.out.String()))
	p.leavesNothing()

	// A session that crashes leaves its stacks, and the next one says so.
	_ = s.cmd.Process.Signal(syscall.SIGUSR2)
	<-s.done
	p.withholds("a crash", []byte(s.out.String()))
	if found := hostile.Found(s.out.String()); found != "" || !strings.Contains(s.out.String(), "panic: ") {
		t.Errorf("a crash passes %q on:\n%s", found, s.out.String())
	}
	p.leavesNothing()
	ci, _ := p.run("ci", "--port", "0", "--namespace", p.namespace, "--timeout", "20s")
	p.withholds("hone ci", []byte(ci))
	p.write("Tiltfile", "k8s_yaml('secrets.yaml')\nfail('it was "+hidden["data"]+"')\n")
	failed, _ := p.run("ci", "--port", "0", "--namespace", p.namespace, "-o", "json")
	p.withholds("hone ci with a Tiltfile that fails", []byte(failed))
	for _, args := range [][]string{{"preview"}, {"deploy", "--yes", "-o", "json"}, {"gc", "--dry-run"}, {"drift"}, {"tiltfile"}} {
		out, _ := p.run(args...)
		p.withholds(fmt.Sprintf("hone %q with a Tiltfile that fails", args), []byte(out))
	}
	down, _ := p.run("down", "--namespace", p.namespace)
	p.withholds("hone down", []byte(down))
	if !strings.Contains(down, "undone with") {
		t.Errorf("the down command did not run:\n%s", down)
	}
	p.leavesNothing()
}

// answers asks the session.
func (s *session) answers(path string) []byte {
	s.p.t.Helper()
	var body []byte
	k8stest.Eventually(s.p.t, "an answer to "+path, func() error {
		req, err := http.NewRequestWithContext(s.p.t.Context(), http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+s.token())
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err = io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", resp.Status, body)
		}
		return err
	})
	return body
}
