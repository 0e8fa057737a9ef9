package state

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// KeptKubeEvents is the number of the newest events of Kubernetes that the table keeps for a resource.
const KeptKubeEvents = 50

// KubeEvents is an entry of table kubeevents; its id is the resource's name. It outlives the objects that the events are
// about, and goes with the resource.
type KubeEvents struct {
	// List are the newest events, newest first, each once.
	List []KubeEvent
}

// KubeEvent is an event that Kubernetes has reported about an object of a resource, once or several times.
type KubeEvent struct {
	// UID identifies the event, which Kubernetes counts up when it happens again.
	UID     string
	Warning bool
	// Reason is Kubernetes' word for it: "BackOff", "FailedScheduling".
	Reason, Message string
	// Object is the object that it is about, ObjectUID the object's UID, and Container the container if it is about a container of a
	// pod.
	Object    model.ObjectID
	ObjectUID string
	Container string
	// Count is the number of times that it happened, 1 or more.
	Count               int
	FirstSeen, LastSeen time.Time
	// Source is the component that reported it: "kubelet".
	Source string
}

// KubeEventsSeen reports events of Kubernetes about the objects of resources: new ones, and new counts of known ones. Many
// come as one action.
type KubeEventsSeen struct {
	Events map[model.ManifestName][]KubeEvent
}

func init() {
	store.On(ClusterEvents, func(d *store.Draft[KubeEvents], a KubeEventsSeen) {
		for _, name := range sortedKeys(a.Events) {
			was := d.Value(string(name))
			if is := was.with(a.Events[name]); !reflect.DeepEqual(was, is) {
				d.PutOwned(string(name), string(name), nil, is)
			}
		}
	})
	store.Follow(ClusterEvents, Resources, func(d *store.Draft[KubeEvents], was, is *store.Entry[Resource]) {
		if leaves(was, is) {
			d.Delete(was.ID)
		}
	})
}

// with returns the events with newer ones. An event that is known already is replaced, unless the known one is newer.
func (k KubeEvents) with(more []KubeEvent) KubeEvents {
	list := slices.Clone(k.List)
	for _, e := range more {
		i := slices.IndexFunc(list, func(o KubeEvent) bool { return o.UID == e.UID })
		switch {
		case i < 0:
			list = append(list, e)
		case !list[i].LastSeen.After(e.LastSeen):
			list[i] = e
		}
	}
	slices.SortStableFunc(list, func(a, b KubeEvent) int {
		return cmp.Or(b.LastSeen.Compare(a.LastSeen), b.FirstSeen.Compare(a.FirstSeen), cmp.Compare(a.UID, b.UID))
	})
	return KubeEvents{List: slices.Clip(list[:min(len(list), KeptKubeEvents)])}
}
