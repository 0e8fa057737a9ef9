package synclet

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// Beside adds hone's own containers to pods.
type Beside interface {
	// Image delivers hone's image to where the containers run, and returns its name there.
	Image(ctx context.Context, home Home) (string, error)
	// Ephemeral returns the name of a container that satisfies the request; see k8s.Client.
	Ephemeral(ctx context.Context, req k8s.EphemeralRequest) (string, error)
}

// Home tells where containers run.
type Home struct {
	Cluster model.Cluster
	// Registry is the one from which the cluster pulls images; empty if there is no common one.
	Registry model.Registry
}

// besideTimeout bounds delivering the image to the cluster and starting a container of it.
const besideTimeout = time.Minute

// codeNotAllowed is the exit code of the program when it runs as another user than the container's process, or with fewer rights.
const codeNotAllowed = 95

// openBeside adds one of hone's containers next to the target. The target's user is not always known in advance: the
// program reports it, and a second container runs as that user.
func (p *Pool) openBeside(ctx context.Context, c model.ContainerRef) (*Conversation, Way, []error, error) {
	if p.beside == nil || c.Namespace == "" { // containers of Compose stand alone
		return nil, "", nil, nil
	}
	bounded, cancel := context.WithTimeoutCause(ctx, besideTimeout, errors.New("no ephemeral container started in time"))
	defer cancel()
	image, err := p.beside.Image(bounded, p.home(c))
	if err != nil {
		if ctx.Err() != nil {
			return nil, "", nil, err
		}
		return nil, "", reason(WayEphemeral, opaque{fmt.Errorf("bring the synclet to the cluster: %w", err)}), nil
	}
	req := k8s.EphemeralRequest{Cluster: c.Cluster, Namespace: c.Namespace, Pod: c.Pod, Target: c.Name, Name: model.SyncletName, Image: image,
		Command: []string{"/" + model.SyncletFile, "idle"}}
	s, err := p.openIn(bounded, c, req)
	if user, ok := wrongUser(err); ok {
		req.User, req.Group = &user[0], &user[1]
		s, err = p.openIn(bounded, c, req)
	}
	var refused *k8s.Refused
	if err != nil && !errors.As(err, &refused) && !unfit(err) {
		return nil, "", nil, err
	}
	if err != nil {
		return nil, "", reason(WayEphemeral, opaque{err}), nil
	}
	s.besides = true
	return s, WayEphemeral, nil, nil
}

// openIn begins a conversation with the program in an ephemeral container.
func (p *Pool) openIn(ctx context.Context, c model.ContainerRef, req k8s.EphemeralRequest) (*Conversation, error) {
	name, err := p.beside.Ephemeral(ctx, req)
	if err != nil {
		return nil, err
	}
	return p.attemptIn(ctx, c, name, func(ctx context.Context, exec Exec) (*stream, error) {
		return startExec(ctx, exec, []string{"/" + model.SyncletFile, "serve", "--in", c.ID}), nil
	})
}

var userText = regexp.MustCompile(`uid=(\d+) gid=(\d+)`)

// wrongUser returns the user and group of the container's process if the program runs as different ones.
func wrongUser(err error) (ids [2]int64, ok bool) {
	if err == nil {
		return ids, false
	}
	if code, exited := liveupdate.ExitCode(err); !exited || code != codeNotAllowed {
		return ids, false
	}
	m := userText.FindStringSubmatch(err.Error())
	if m == nil {
		return ids, false
	}
	for i := range ids {
		n, err := strconv.ParseInt(m[i+1], 10, 64)
		if err != nil {
			return ids, false
		}
		ids[i] = n
	}
	return ids, true
}

// opaque is an error that has only its text and wraps nothing: a cluster that forbids this way may allow the others.
type opaque struct{ err error }

func (o opaque) Error() string { return o.err.Error() }

var _ error = opaque{}
