// Package shell finds where a shell of a resource can run: in which containers, or in which folder of this machine. The session's
// screens and its API choose in the same way.
package shell

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Place describes where a shell of a resource can run: in one of its containers, or in a folder.
type Place struct {
	Resource model.ManifestName
	// Containers are the running containers, the best choice first. Compose is set if a container engine runs them rather than a
	// cluster.
	Containers []Container
	Compose    bool
	// Folder is set for a resource that runs on the machine of the session. Containers is then empty.
	Folder *Folder
}

// Container is a container that runs.
type Container struct {
	// Namespace and Pod find it in the cluster. A container of Compose has no namespace, and its own name as Pod.
	Namespace, Pod, Name string
	// ID is the runtime's id.
	ID string
	// PodReady is set if its pod is ready, and Old if the pod is not of the newest deploy.
	PodReady, Old bool
	// Live is set if live updates go to it.
	Live bool
	// Kind tells apart ordinary containers, sidecars and init containers.
	Kind Kind
}

// Kind is the role of a container in its pod.
type Kind string

// The kinds of containers.
const (
	Ordinary Kind = "ordinary"
	Sidecar  Kind = "sidecar" // an init container that keeps running
	Init     Kind = "init"
)

// Folder is a folder with additional environment variables, "K=V".
type Folder struct {
	Dir string
	Env []string
}

// Of returns where a shell of a resource can run. An empty name means the only resource that has a container, or the only
// resource. The error is an *intent.Refusal.
func Of(v store.View, resource string) (Place, error) {
	if resource == string(model.TiltfileName) {
		return Place{Resource: model.TiltfileName, Folder: &Folder{Dir: filepath.Dir(state.TheSession(v).Tiltfile)}}, nil
	}
	if resource == "" {
		only, err := theOnly(v)
		if err != nil {
			return Place{}, err
		}
		resource = only
	}
	r := state.Resources.In(v).Ref(resource)
	if r == nil {
		return Place{}, intent.NoResource(v, resource, append([]string{string(model.TiltfileName)}, names(v)...))
	}
	m := r.Value.Manifest
	switch {
	case !r.Value.Enabled:
		return Place{}, impossible(fmt.Sprintf("resource %q is disabled", resource), "enable it first: hone enable "+resource)
	case m.IsLocal():
		return Place{Resource: m.Name, Folder: folder(*m.Local)}, nil
	}
	pods := state.PodsOf(v, m.Name)
	p := Place{Resource: m.Name, Compose: m.IsCompose(), Containers: containers(m, state.Updates.In(v).Value(resource), pods)}
	if len(p.Containers) == 0 {
		return Place{}, nothingRuns(m, pods)
	}
	return p, nil
}

// In narrows the containers to the ones in a pod, and to the ones with a name; empty means any.
func (p Place) In(pod, container string) (Place, error) {
	if p.Folder != nil {
		if pod != "" || container != "" {
			return Place{}, impossible(fmt.Sprintf("%s has no containers: it runs on the machine of the session", p.Resource), "leave out --pod and --container")
		}
		return p, nil
	}
	name := func(c Container) string { return c.Name }
	podOf := func(c Container) string { return c.Pod }
	for _, by := range []struct {
		what, want string
		of         func(Container) string
	}{{"running pod of " + string(p.Resource), pod, podOf}, {"running container of " + string(p.Resource), container, name}} {
		if by.want == "" {
			continue
		}
		var all []string
		var left []Container
		for _, c := range p.Containers {
			if !slices.Contains(all, by.of(c)) {
				all = append(all, by.of(c))
			}
			if by.of(c) == by.want {
				left = append(left, c)
			}
		}
		if len(left) == 0 {
			return Place{}, intent.NoSuch(by.what, by.want, all)
		}
		p.Containers = left
	}
	return p, nil
}

// names returns the names of the resources that are not being removed.
func names(v store.View) []string {
	var out []string
	for _, t := range intent.Switchable(v) {
		out = append(out, t.Name)
	}
	return out
}

// theOnly returns the resource that is meant if none is named.
func theOnly(v store.View) (string, error) {
	var all, running []string
	for e := range state.Enabled(v) {
		all = append(all, e.ID)
		if m := e.Value.Manifest; !m.IsLocal() && len(containers(m, state.Updates.In(v).Value(e.ID), state.PodsOf(v, m.Name))) > 0 {
			running = append(running, e.ID)
		}
	}
	switch {
	case len(running) == 1:
		return running[0], nil
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return "", impossible("the session has no resource", "")
	}
	listed := all
	if len(running) > 0 {
		listed = running
	}
	more := ""
	if len(listed) > listedNames {
		listed, more = listed[:listedNames], ", …"
	}
	return "", &intent.Refusal{Reason: intent.Invalid, Err: problem.New("there are several resources: name one", "there are: "+strings.Join(listed, ", ")+more)}
}

// listedNames is the maximum number of names that a mend lists.
const listedNames = 10

// folder returns the folder that a local resource works in: its server's, or else its update's.
func folder(l model.LocalTarget) *Folder {
	c := l.Serve
	if c.Empty() {
		c = l.Update
	}
	return &Folder{Dir: c.Dir, Env: c.Env}
}

// candidate is a container with the facts that rank it among others.
type candidate struct {
	Container
	pod *state.Pod
	// rank is lower for a better choice within the pod, and nth the position in the pod's specification.
	rank, nth int
}

// containers returns the running containers of a resource, the best choice first: pods of the newest deploy before older ones,
// ready ones before others, newer ones before older ones. In a pod, the container that live updates go to comes first, then the
// one that the pod names as its default, then one whose image this session builds, then the others as they are declared.
func containers(m model.Manifest, u state.Update, pods []state.Pod) []Container {
	live := map[string]bool{}
	for _, c := range buildcontrol.Live(m, u, pods) {
		live[c.ID] = true
	}
	var all []candidate
	for i := range pods {
		p := &pods[i]
		for n, c := range p.AllContainers() {
			if c.State != model.ContainerRunning || p.Deleting {
				continue
			}
			d := candidate{pod: p, nth: n, Container: Container{Namespace: p.Namespace, Pod: p.Name, Name: c.Name, ID: c.ID, PodReady: p.Ready,
				Old: !p.Current, Live: live[c.ID], Kind: kindOf(c)}}
			switch {
			case d.Live:
				d.rank = 0
			case c.Name == p.DefaultContainer:
				d.rank = 1
			case d.Kind == Ordinary && builds(m, u, c.Image):
				d.rank = 2
			case d.Kind == Ordinary:
				d.rank = 3
			case d.Kind == Sidecar:
				d.rank = 4
			default:
				d.rank = 5
			}
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(order(!a.Old, !b.Old), order(a.PodReady, b.PodReady), b.pod.CreatedAt.Compare(a.pod.CreatedAt),
			cmp.Compare(a.Pod, b.Pod), a.rank-b.rank, a.nth-b.nth)
	})
	out := make([]Container, len(all))
	for i, d := range all {
		out[i] = d.Container
	}
	return out
}

// order puts true before false.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func kindOf(c model.Container) Kind {
	switch {
	case c.Sidecar:
		return Sidecar
	case c.Init:
		return Init
	}
	return Ordinary
}

// builds reports whether the session builds an image that a container runs.
func builds(m model.Manifest, u state.Update, image string) bool {
	return image != "" && slices.ContainsFunc(m.Images, func(im model.ImageTarget) bool { return u.Images[im.Ref].Cluster == image })
}

// nothingRuns is the refusal for a resource without a running container.
func nothingRuns(m model.Manifest, pods []state.Pod) error {
	what, name := "pod", string(m.Name)
	if m.IsCompose() {
		what = "container"
	}
	if len(pods) == 0 {
		return impossible(fmt.Sprintf("no %s of %s is running: there is none", what, name), "hone describe uiresource "+name+" shows its state; hone trigger "+name+" updates it")
	}
	p := pods[0]
	mend := "hone logs " + name + " shows why"
	if !p.OfCompose() && p.Phase == "Running" {
		mend += fmt.Sprintf("; kubectl debug -n %s %s -it --copy-to=%s-debug --container=%s -- sh starts a copy of the pod with a shell", p.Namespace, p.Name, p.Name, firstName(p))
	}
	return impossible(fmt.Sprintf("no container of %s is running: %s is %s", name, p.Name, cmp.Or(p.Status, p.Phase)), mend)
}

func firstName(p state.Pod) string {
	if len(p.Containers) == 0 {
		return "NAME"
	}
	return p.Containers[0].Name
}

func impossible(summary, mend string) error {
	return &intent.Refusal{Reason: intent.Impossible, Err: problem.New(summary, mend)}
}
