package state

import (
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Forward is an entry of table forwards; its id is "resource/port", or "resource/host:port" where the
// forward names a host.
type Forward struct {
	Resource model.ManifestName
	Spec     model.PortForward
	// Address is the local address that it listens on, "localhost:8080"; URL is the address for people.
	Address string
	URL     string
	// Pod is the pod that new connections go to, "namespace/name:port"; empty while there is none.
	Pod string
	// State is waiting, ready or failed.
	State ForwardState
	// Err is why it is not ready.
	Err string
}

// ForwardState is the state of a forward.
type ForwardState string

// The states of a forward.
const (
	ForwardWaiting ForwardState = "waiting"
	ForwardReady   ForwardState = "ready"
	ForwardFailed  ForwardState = "failed"
)

// ForwardChanged reports the new state of a forward.
type ForwardChanged struct {
	ID      string
	Forward Forward
}

// ForwardClosed reports that a forward's port is closed.
type ForwardClosed struct{ ID string }

func init() {
	store.On(Forwards, func(d *store.Draft[Forward], a ForwardChanged) {
		was := d.Ref(a.ID)
		if was == nil || was.Value != a.Forward {
			d.PutOwned(a.ID, string(a.Forward.Resource), nil, a.Forward)
		}
	})
	store.On(Forwards, func(d *store.Draft[Forward], a ForwardClosed) { d.Delete(a.ID) })
}

// ForwardsOf returns the forwards of a resource. The slice must not be changed.
func ForwardsOf(v store.View, name model.ManifestName) []Forward {
	return forwardsByResource.In(v)[name]
}

// ServicesOf returns the Services of a resource. The slice must not be changed.
func ServicesOf(v store.View, name model.ManifestName) []model.Service {
	return servicesByResource.In(v)[name]
}

var (
	forwardsByResource = byResource(Forwards, func(f *Forward) model.ManifestName { return f.Resource })
	servicesByResource = byResource(Services, func(s *model.Service) model.ManifestName { return s.Resource })
)

// byResource groups the values of a table by resource.
func byResource[T any](t *store.Table[T], of func(*T) model.ManifestName) *store.Derived[map[model.ManifestName][]T] {
	return store.Derive(Schema, t.Name()+" by resource", func(v store.View) map[model.ManifestName][]T {
		out := map[model.ManifestName][]T{}
		for e := range t.In(v).Refs() {
			out[of(&e.Value)] = append(out[of(&e.Value)], e.Value)
		}
		return out
	}, t)
}
