package projection

import (
	"iter"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

func portForward() Kind {
	type object = *v1alpha1.PortForward
	return Kind{
		Name: "PortForward", ShortNames: []string{"pf"},
		Doc:    "PortForward is the local ports of a resource, and the pod that they forward to.",
		Tables: tables(state.Resources, state.Updates, state.Forwards),
		Items: func(v store.View) iter.Seq[Item] {
			return inOrder(perResource(v, "PortForward", withForwards, func(r *row) bool {
				return onKubernetes(r) && len(r.Value.Manifest.K8s.PortForwards) > 0 && r.Value.Enabled
			}, func(r *row) digest { return groupMade(r.forwards) }, makeForward))
		},
		New: func() Object { return &v1alpha1.PortForward{} },
		Columns: []Column{
			column("Pod", "The pod that new connections go to.", func(o object) any { return o.Spec.PodName }),
			column("Addresses", "The addresses that the ports listen on.", func(o object) any {
				var all []string
				for _, f := range o.Status.ForwardStatuses {
					all = append(all, f.Addresses...)
				}
				return strings.Join(all, ",")
			}),
			column("Error", "Why a port is not ready.", func(o object) any {
				for _, f := range o.Status.ForwardStatuses {
					if f.Error != "" {
						return f.Error
					}
				}
				return ""
			}),
		},
		Write: readOnly("portforwards", "ports are declared in the Tiltfile: k8s_resource(port_forwards=…); for this session only: hone forwards add, remove, move"),
	}
}

func makeForward(s *source, r *row) *v1alpha1.PortForward {
	o := &v1alpha1.PortForward{ObjectMeta: metaOfResource(r.Entry)}
	m := &r.Value.Manifest
	o.Spec.Forwards, o.Spec.Cluster = forwardTemplate(m).Forwards, clusterObject(s.View, m.Cluster())
	for _, e := range sortedForwards(r) {
		f := &e.Value
		st := v1alpha1.ForwardStatus{LocalPort: int32(f.Spec.LocalPort), ContainerPort: int32(f.Spec.ContainerPort), Error: f.Err}
		if f.State != state.ForwardFailed {
			st.Addresses, st.StartedAt = []string{f.Address}, micro(e.Created)
		}
		o.Status.ForwardStatuses = append(o.Status.ForwardStatuses, st)
		if namespace, rest, ok := strings.Cut(f.Pod, "/"); ok {
			o.Spec.Namespace = namespace
			o.Spec.PodName, _, _ = strings.Cut(rest, ":")
		}
	}
	return o
}

// sortedForwards returns the forwards in the order of the Tiltfile.
func sortedForwards(r *row) []*store.Entry[state.Forward] {
	k := r.Value.Manifest.K8s
	if k == nil || len(r.forwards.Entries()) < 2 {
		return r.forwards.Entries()
	}
	out := slices.Clone(r.forwards.Entries())
	place := func(e *store.Entry[state.Forward]) int { return slices.Index(k.PortForwards, e.Value.Spec) }
	slices.SortStableFunc(out, func(a, b *store.Entry[state.Forward]) int { return place(a) - place(b) })
	return out
}

// forwardTemplate returns the declared ports of a resource; nil if it has none.
func forwardTemplate(m *model.Manifest) *v1alpha1.PortForwardTemplateSpec {
	if len(m.K8s.PortForwards) == 0 {
		return nil
	}
	t := &v1alpha1.PortForwardTemplateSpec{}
	for _, f := range m.K8s.PortForwards {
		t.Forwards = append(t.Forwards, v1alpha1.Forward{LocalPort: int32(f.LocalPort), ContainerPort: int32(f.ContainerPort), Host: f.Host,
			Name: f.Name, Path: f.LinkPath})
	}
	return t
}

func podLogStream() Kind {
	type object = *v1alpha1.PodLogStream
	return Kind{
		Name: "PodLogStream", ShortNames: []string{"pls"},
		Doc:    "PodLogStream copies the log of a pod into the log of its resource.",
		Tables: tables(state.Pods, state.Sessions),
		Items:  podLogStreams,
		New:    func() Object { return &v1alpha1.PodLogStream{} },
		Columns: []Column{
			column("Namespace", "The namespace of the pod.", func(o object) any { return o.Spec.Namespace }),
			column("Pod", "The pod.", func(o object) any { return o.Spec.Pod }),
			column("Active", "How many containers of the pod run.", func(o object) any {
				n := 0
				for _, c := range o.Status.ContainerStatuses {
					if c.Active {
						n++
					}
				}
				return n
			}),
		},
		Write: readOnly("podlogstreams", "hone reads the log of every pod of a resource; to read it yourself: hone logs"),
	}
}

func podLogStreams(v store.View) iter.Seq[Item] {
	s := sourceOf(v)
	began := state.TheSession(v).StartedAt
	var items []Item
	for e := range state.Pods.In(v).Refs() {
		if e.Value.OfCompose() {
			continue
		}
		name, cluster := e.Value.Namespace+"-"+e.Value.Name, clusterObject(v, e.Value.Cluster)
		if e.Value.Cluster != "" {
			name = cluster + "-" + name
		}
		items = append(items, item(s, "PodLogStream", name, digest(0).entry(&e.Meta).word(cluster), func() *v1alpha1.PodLogStream { return makePodLog(e, cluster, metav1.NewTime(began)) }))
	}
	return inOrder(items)
}

func makePodLog(e *store.Entry[state.Pod], cluster string, began metav1.Time) *v1alpha1.PodLogStream {
	p := &e.Value
	o := &v1alpha1.PodLogStream{ObjectMeta: metaOf(&e.Meta, map[string]string{resourceAnnotation: string(p.Resource)})}
	o.Spec = v1alpha1.PodLogStreamSpec{Pod: p.Name, Namespace: p.Namespace, SinceTime: &began, Cluster: cluster}
	for _, c := range p.AllContainers() {
		if c.ID != "" {
			o.Status.ContainerStatuses = append(o.Status.ContainerStatuses, v1alpha1.ContainerLogStreamStatus{Name: c.Name,
				Active: c.State == model.ContainerRunning, Terminated: c.State == model.ContainerTerminated})
		}
	}
	return o
}
