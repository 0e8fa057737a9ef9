// Package doctor finds out what hone has to work with, and what is wrong with it: the cluster and what may be done there, the
// container engine, this machine's limits, the terminal, hone's own folders. It changes nothing.
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

// patience bounds what one section may ask.
const patience = 10 * time.Second

// Section is what was found about one thing.
type Section struct {
	api.FindingSection
}

func section(name string) *Section {
	return &Section{api.FindingSection{Name: name, Findings: []api.Finding{}}}
}

// found adds something that is well.
func (s *Section) found(name, format string, args ...any) {
	s.Findings = append(s.Findings, api.Finding{Name: name, Value: fmt.Sprintf(format, args...)})
}

// fault adds something that is not. A mend that the error brings along goes before the one that is given.
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
			if f.Fault != "" {
				e.Faults++
			}
		}
		e.Sections = append(e.Sections, s.FindingSection)
	}
	return e
}

// Program is about hone itself.
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

// need is what hone does in a cluster, and what it does instead where it may not.
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

// Cluster is about the Kubernetes cluster. Known is what the kubeconfig tells, and why it cannot be read is broken. Connect is
// called where there is one. The cluster as it was found is the zero value where it does not answer.
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
		s.fault("connection", err, "kubectl cluster-info tells more")
		return s, model.Cluster{}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := kube.Detect(ctx)
	if err != nil {
		s.fault("connection", err, "kubectl cluster-info tells more")
		return s, model.Cluster{}
	}
	if k8s.TooOld(c.Version) {
		s.fault("version", fmt.Errorf("%s is older than what hone works with", c.Version), "upgrade the cluster to v1.25 or newer")
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

// rights asks for everything that hone does in a cluster.
func rights(ctx context.Context, s *Section, kube Kube, namespace string) {
	for _, n := range needs {
		a := n.access
		a.Namespace = namespace
		ok, why, err := kube.Allowed(ctx, a)
		switch {
		case err != nil:
			s.fault("you may "+n.what, err, "kubectl auth can-i --list tells more")
			return // the others would not be answered either
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
				fmt.Sprintf("ask for the right to %s %s in namespace %s", a.Verb, resource, namespace))
		}
	}
}

// Pinger is a container engine.
type Pinger interface {
	Ping(ctx context.Context) (docker.Info, error)
}

// Engine is about the container engine that builds images. Compose asks for the version of Docker Compose. Info is nil where
// the engine does not answer.
func Engine(ctx context.Context, connect func(context.Context) (Pinger, error), compose func(context.Context) (string, error)) (*Section, *docker.Info) {
	s := section("Container engine")
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	const mend = "start the engine, or say where it is: DOCKER_HOST, or docker context use NAME"
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

// Delivered adds how images get from the engine to the cluster.
func (s *Section) Delivered(plan model.DeliveryMethod, why string) {
	s.found("images are delivered by", "%s (%s)", plan, why)
}

// errNoAnswer is for sessions that are there but say nothing.
var errNoAnswer = errors.New("does not answer")

// Sessions is about the sessions that run on this machine.
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
