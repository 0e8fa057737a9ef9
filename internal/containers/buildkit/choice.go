package buildkit

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// Dialer opens connections to a daemon. Where one of them ends with an error, ended receives it.
type Dialer func(ctx context.Context, ended func(error)) (net.Conn, error)

// Pod is a daemon in a cluster.
type Pod interface {
	// Namespace is where it runs, and Name is its name there.
	Namespace() string
	Name() string
	// String says how it runs: "rootless"; empty before the first connection.
	String() string
	// Dial is a Dialer. It starts the daemon if that is not there, and nothing touches the cluster before.
	Dial(ctx context.Context, ended func(error)) (net.Conn, error)
	// Ready starts the daemon if that is not there. Where ctx is done first, starting names the thing that the start waits for.
	Ready(ctx context.Context) (starting string, err error)
}

// Pods runs daemons in a cluster.
type Pods interface {
	// Builder returns a replica, by its number, of the builder that has the given settings. An error means that its cluster is not known.
	Builder(pod model.BuilderPod, replica int) (Pod, error)
}

// Choice is the builder that takes the place of the container engine: the one that the user names, or else the one that the Tiltfile declares.
// It may be used by several goroutines. Construct it with Choose, and Close it.
type Choice struct {
	named string
	pods  Pods

	mu     sync.Mutex
	opened map[string]*Fleet // by the choice as JSON; guarded by mu, as everything below
	away   bool
}

// Choose returns the choice of a user who names a builder, or gives its address; an empty name leaves the choice to the Tiltfile, and Default
// chooses the engine's own. pods is nil without a cluster. An error is a problem with the name.
func Choose(named string, pods Pods) (*Choice, error) {
	c := &Choice{named: named, pods: pods, opened: map[string]*Fleet{}}
	if named == "" {
		return c, nil
	}
	b, err := c.open(model.Builder{At: named})
	if err != nil || b == nil {
		return c, err
	}
	c.away = true
	return c, b.Close()
}

// For returns the builder, where the Tiltfile declares one; nil for the container engine's own. A builder that is not there, or cannot be
// understood, says so when it is used.
func (c *Choice) For(declared model.Builder) *Fleet {
	if c == nil {
		return nil
	}
	is := declared
	if c.named != "" && c.named != declared.At {
		is = model.Builder{At: c.named}
	}
	key, _ := json.Marshal(is) // never an error: strings, numbers, and maps of strings
	c.mu.Lock()
	defer c.mu.Unlock()
	b, known := c.opened[string(key)]
	if !known {
		var err error
		if b, err = c.open(is); err != nil {
			b = broken(is, err)
		}
		c.opened[string(key)] = b
	}
	c.away = b != nil
	return b
}

// Away reports whether images are built elsewhere, as far as is known: the container engine is not needed then.
func (c *Choice) Away() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.away
}

// Close ends the connections to all builders.
func (c *Choice) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, b := range c.opened {
		if b != nil {
			errs = append(errs, b.Close())
		}
	}
	clear(c.opened)
	return errors.Join(errs...)
}

// open returns a builder; nil for the engine's own.
func (c *Choice) open(is model.Builder) (*Fleet, error) {
	if is.At == model.BuilderInCluster {
		return c.inCluster(is)
	}
	at, err := Find(is.At)
	if err != nil || at == nil {
		return nil, err
	}
	b, err := New(*at)
	if err != nil {
		return nil, err
	}
	return single(b), nil
}

// inCluster returns the builder in the cluster. Its only daemon has the address of the whole.
func (c *Choice) inCluster(is model.Builder) (*Fleet, error) {
	if c.pods == nil {
		return nil, problem.New("there is no cluster for the builder: no kubeconfig was found", "set KUBECONFIG, or choose another builder: --builder NAME").See("builders")
	}
	f, all := &Fleet{at: Address{Name: is.At}}, is.Pod.All()
	if is.Pod.Cluster != "" {
		f.at.Name += " in " + is.Pod.Cluster
	}
	for _, r := range all {
		pod, err := c.pods.Builder(r.Pod, r.Number)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.at.URL = inCluster + "://" + pod.Namespace()
		at := f.at
		if len(all) > 1 {
			at.URL += "/" + pod.Name()
		}
		b, err := through(at, pod.Dial)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		b.ready, b.how, b.opens, b.own = pod.Ready, pod.String, true, is.Pod.Cluster == ""
		f.add(r.Arch, b)
	}
	return f, nil
}

// broken returns a builder that cannot be used.
func broken(is model.Builder, why error) *Fleet {
	b, _ := through(Address{URL: is.At}, func(context.Context, func(error)) (net.Conn, error) { return nil, why }) // an error means certificates
	return single(b)
}
