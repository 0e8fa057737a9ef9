// Package doctor examines hone's environment and reports problems: the cluster and the user's rights in it, the container
// engine, this machine's limits, the terminal, hone's own folders. It changes nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// patience bounds the requests of one section.
const patience = 10 * time.Second

// Section holds the findings about one subject.
type Section struct {
	api.FindingSection
	// explains is set for a section that gives the causes of faults in others: they do not count twice.
	explains bool
}

func section(name string) *Section {
	return &Section{FindingSection: api.FindingSection{Name: name, Findings: []api.Finding{}}}
}

// found adds a finding without a problem.
func (s *Section) found(name, format string, args ...any) {
	s.Findings = append(s.Findings, api.Finding{Name: name, Value: fmt.Sprintf(format, args...)})
}

// fault adds a problem. The mend in the error, if any, takes precedence over the given one.
func (s *Section) fault(name string, err error, mend string) {
	f := api.Finding{Name: name, Fault: err.Error(), Mend: mend}
	if p, ok := problem.Of(err); ok && p.Mend != "" {
		f.Mend = p.Mend
	}
	s.Findings = append(s.Findings, f)
}

// Report puts sections together.
func Report(version string, sections ...*Section) api.Examination {
	e := api.Examination{Version: version, Sections: []api.FindingSection{}}
	for _, s := range sections {
		for _, f := range s.Findings {
			if f.Fault != "" && !s.explains {
				e.Faults++
			}
		}
		e.Sections = append(e.Sections, s.FindingSection)
	}
	return e
}

// Program returns the section about hone itself.
func Program(version, goVersion, platform, path string) *Section {
	s := section("hone")
	s.found("version", "%s", version)
	s.found("built with", "%s", goVersion)
	s.found("platform", "%s", platform)
	s.found("program", "%s", path)
	s.found("telemetry", "none: hone sends nothing about you anywhere")
	return s
}

// Kube is a cluster that answers.
type Kube interface {
	Detect(ctx context.Context) (model.Cluster, error)
	Allowed(ctx context.Context, a k8s.Access) (ok bool, why string, err error)
}

// need is an operation of hone in a cluster, and the effect of a missing right to it.
type need struct {
	what, without string
	access        k8s.Access
}

var needs = []need{
	{"deploy", "nothing can be deployed", k8s.Access{Verb: "patch", Group: "apps", Resource: "deployments"}},
	{"follow pods", "hone does not see whether pods are ready", k8s.Access{Verb: "watch", Resource: "pods"}},
	{"read logs", "logs of pods are not shown", k8s.Access{Verb: "get", Resource: "pods", Subresource: "log"}},
	{"exec", "running containers cannot be updated in place", k8s.Access{Verb: "create", Resource: "pods", Subresource: "exec"}},
	{"port-forward", "ports of resources are not opened", k8s.Access{Verb: "create", Resource: "pods", Subresource: "portforward"}},
	{"add ephemeral containers", "containers whose image has neither a shell nor tar, and that were not deployed by hone, cannot be updated in place",
		k8s.Access{Verb: "patch", Resource: "pods", Subresource: "ephemeralcontainers"}},
}

// Cluster returns the section about the Kubernetes cluster. known is the cluster according to the kubeconfig; broken is the reason
// why the kubeconfig cannot be read. connect is called if there is a cluster. The returned cluster is the zero value if it does not
// answer.
func Cluster(ctx context.Context, known model.Cluster, broken error, connect func() (Kube, error)) (*Section, model.Cluster) {
	s := section("Kubernetes")
	switch {
	case broken != nil:
		s.fault("kubeconfig", broken, "set KUBECONFIG to a file that kubectl can read")
		return s, model.Cluster{}
	case known.Context == "":
		s.found("kubeconfig", "none: set KUBECONFIG to use a cluster")
		return s, model.Cluster{}
	}
	s.found("context", "%s", known.Context)
	s.found("server", "%s", known.Server)
	s.found("namespace", "%s", known.Namespace)
	s.found("product", "%s", known.Product)
	if known.Product.Dev() {
		s.found("hone may change it", "yes, a development cluster")
	} else {
		s.found("hone may change it", "only with allow_k8s_contexts(%q) in the Tiltfile", known.Context)
	}
	kube, err := connect()
	if err != nil {
		s.fault("connection", err, "kubectl cluster-info shows more")
		return s, model.Cluster{}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := kube.Detect(ctx)
	if err != nil {
		s.fault("connection", err, "kubectl cluster-info shows more")
		return s, model.Cluster{}
	}
	if k8s.TooOld(c.Version) {
		s.fault("version", fmt.Errorf("%s is older than the versions that hone supports", c.Version), "upgrade the cluster to v1.25 or newer")
	} else {
		s.found("version", "%s", c.Version)
	}
	s.found("nodes", "%d, %s, %s", c.Nodes, c.Arch, c.Runtime)
	if c.Registry.Empty() {
		s.found("registry", "none announced")
	} else {
		s.found("registry", "%s", c.Registry.Host)
	}
	rights(ctx, s, kube, c.Namespace)
	return s, c
}

// Beside is like Cluster, for a cluster that a project works in beside its own. The name of the section has its context.
func Beside(ctx context.Context, known model.Cluster, broken error, connect func() (Kube, error)) (*Section, model.Cluster) {
	s, c := Cluster(ctx, known, broken, connect)
	s.Name += " " + known.Context
	return s, c
}

// rights checks the right to every operation of hone in a cluster.
func rights(ctx context.Context, s *Section, kube Kube, namespace string) {
	for _, n := range needs {
		a := n.access
		a.Namespace = namespace
		ok, why, err := kube.Allowed(ctx, a)
		switch {
		case err != nil:
			s.fault("you may "+n.what, err, "kubectl auth can-i --list shows more")
			return // the other checks would fail in the same way
		case ok:
			s.found("you may "+n.what, "yes")
		default:
			if why != "" {
				why = " (" + why + ")"
			}
			resource := a.Resource
			if a.Group != "" {
				resource += "." + a.Group
			}
			if a.Subresource != "" {
				resource += "/" + a.Subresource
			}
			s.fault("you may "+n.what, fmt.Errorf("no: %s%s", n.without, why),
				fmt.Sprintf("request the right to %s %s in namespace %s", a.Verb, resource, namespace))
		}
	}
}

// Pinger is a container engine.
type Pinger interface {
	Ping(ctx context.Context) (docker.Info, error)
}

// Engine returns the section about the container engine that builds images. compose returns the version of Docker Compose. The info
// is nil if the engine does not answer.
func Engine(ctx context.Context, connect func(context.Context) (Pinger, error), compose func(context.Context) (string, error)) (*Section, *docker.Info) {
	s := section("Container engine")
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	const mend = "start the engine, or set its address: DOCKER_HOST, or docker context use NAME"
	e, err := connect(ctx)
	if err != nil {
		s.fault("engine", err, mend)
		return s, nil
	}
	info, err := e.Ping(ctx)
	if err != nil {
		s.fault("engine", err, mend)
		return s, nil
	}
	s.found("address", "%s", info.Host)
	s.found("version", "%s, API %s, %s/%s", info.Version, info.APIVersion, info.OS, info.Arch)
	if info.Product != "" {
		s.found("runs on", "%s", info.Product)
	}
	if info.BuildKit {
		s.found("builds with", "BuildKit")
	} else {
		s.found("builds with", "the classic builder, which lacks secrets, SSH and cache mounts")
	}
	if version, err := compose(ctx); err != nil {
		s.found("Compose", "none: docker compose does not run, which only Tiltfiles with docker_compose() need")
	} else {
		s.found("Compose", "%s", version)
	}
	return s, &info
}

// Delivered adds the way in which images get from the engine to the cluster.
func (s *Section) Delivered(plan model.DeliveryMethod, why string) {
	s.found("images are delivered by", "%s (%s)", plan, why)
}

// errNoAnswer is for sessions that run but do not answer.
var errNoAnswer = errors.New("does not answer")

// Sessions returns the section about the sessions that run on this machine.
func Sessions(all []api.RunningSession, err error) *Section {
	s := section("Sessions")
	switch {
	case err != nil:
		s.fault("running", err, "")
		return s
	case len(all) == 0:
		s.found("running", "none")
	}
	for _, r := range all {
		where := r.Tiltfile
		if r.Context != "" {
			where += " @ " + r.Context
		}
		switch {
		case r.Resources != nil:
			s.found(r.Name, "pid %d, %s: %d resources, %d failing", r.PID, where, r.Resources.Total, r.Resources.Failing)
		case r.Error == errNoAnswer.Error():
			s.fault(r.Name, fmt.Errorf("pid %d, %s: %w", r.PID, where, errNoAnswer),
				fmt.Sprintf("end it: kill %d, and if that does not help: kill -9 %[1]d; the next hone cleans up after it", r.PID))
		default:
			s.found(r.Name, "pid %d, %s: %s", r.PID, where, r.Error)
		}
	}
	return s
}
