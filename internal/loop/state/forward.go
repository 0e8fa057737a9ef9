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
