package k8stest

import (
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// Fixture is a cluster on which the conformance suite runs. Its functions fail the test on errors.
type Fixture struct {
	Client    k8s.Interface
	Namespace string
	// StartPod creates a pod that is running when it returns. Its container "main" echoes on port EchoPort, and its
	// label "app" is the pod's name.
	StartPod func(t *testing.T, name string)
	// DeletePod removes it at once.
	DeletePod func(t *testing.T, name string)
	// Say makes the container of a pod write a line to its log.
	Say func(t *testing.T, pod, line string)
	// AddService makes a Service of type NodePort.
	AddService func(t *testing.T, name string)
	// AddConfigMap makes a ConfigMap, and DeleteConfigMap removes it.
	AddConfigMap    func(t *testing.T, name string)
	DeleteConfigMap func(t *testing.T, name string)
	// AddEvent adds an event about a pod.
	AddEvent func(t *testing.T, pod, reason, message string)
	// Unreachable returns a client of a cluster that does not answer.
	Unreachable func(t *testing.T) k8s.Interface
}

// EchoPort is the port on which the pods of a Fixture echo; nothing listens on ClosedPort.
const (
	EchoPort   = 7000
	ClosedPort = 7001
)

// wait bounds each step of the suite.
const wait = 60 * time.Second

// Conformance checks that a client fulfils the contract of k8s.Interface. newFixture is called once for each group of
// checks.
func Conformance(t *testing.T, newFixture func(t *testing.T) Fixture) {
	groups := []struct {
		name string
		run  func(*testing.T, Fixture)
	}{
		{"Detect", testDetect},
		{"Exec", testExec},
		{"DialPod", testDialPod},
		{"Logs", testLogs},
		{"WatchPods", testWatchPods},
		{"WatchOthers", testWatchOthers},
		{"RemovePod", testRemovePod},
		{"Unreachable", testUnreachable},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			g.run(t, newFixture(t))
		})
	}
}

func testDetect(t *testing.T, f Fixture) {
	got, err := f.Client.Detect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{got.Context, got.Server, got.Version, got.Arch, got.Runtime} {
		present(t, got, field)
	}
	if got.Nodes < 1 {
		t.Errorf("no nodes: %+v", got)
	}
	if c := f.Client.Cluster(); c.Context != got.Context || c.Server != got.Server || c.Version != "" {
		t.Errorf("Cluster() = %+v, want only the facts of the kubeconfig in %+v", c, got)
	}
	if err := f.Client.Healthy(t.Context()); err != nil {
		t.Errorf("Healthy: %v", err)
	}
}

func testUnreachable(t *testing.T, f Fixture) {
	c := f.Unreachable(t)
	start := time.Now()
	_, err := c.Detect(t.Context())
	p, ok := problem.Of(err)
	if !ok {
		t.Fatalf("Detect: %v is not a problem", err)
	}
	named := strings.Contains(p.Summary, c.Cluster().Context) && strings.Contains(p.Summary, c.Cluster().Server)
	if !named || p.Mend == "" || !k8s.IsUnreachable(err) {
		t.Errorf("Detect: %v is not a problem that names context and server", err)
	}
	if d := time.Since(start); d > 6*time.Second {
		t.Errorf("Detect took %v", d)
	}
	if err := c.Healthy(t.Context()); err == nil {
		t.Error("Healthy: no error")
	}
	if err := c.Exec(t.Context(), k8s.ExecRequest{Pod: "any", Argv: []string{"true"}}); !k8s.IsUnreachable(err) {
		t.Errorf("Exec: %v", err)
	}
	if _, err := c.DialPod(t.Context(), "", "any", 1); !k8s.IsUnreachable(err) {
		t.Errorf("DialPod: %v", err)
	}
	if _, err := c.Logs(t.Context(), k8s.LogRequest{Pod: "any"}); !k8s.IsUnreachable(err) {
		t.Errorf("Logs: %v", err)
	}
	if err := c.RemovePod(t.Context(), k8s.RemovePodRequest{Name: "any", UID: "1", Owners: []string{"1"}}); !k8s.IsUnreachable(err) {
		t.Errorf("RemovePod: %v", err)
	}
	ref := k8s.OwnerRef{APIVersion: "v1", Kind: "ConfigMap", Name: "any", UID: "1", Controller: true}
	if _, err := c.OwnerChain(t.Context(), k8s.OwnerRequest{Ref: ref}); !k8s.IsUnreachable(err) {
		t.Errorf("OwnerChain: %v", err)
	}
}
