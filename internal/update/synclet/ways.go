package synclet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// ownWays are the ways that need only the container's image.
var ownWays = []Way{WayShell, WayTar}

// openTimeout bounds one attempt to get the program in and to receive its answer.
const openTimeout = 15 * time.Second

// errSilent means that an attempt got no answer within openTimeout.
var errSilent = errors.New("the synclet does not answer")

// open gets the program into a container: first from the pod's volume, then in the way that is known to work for its
// image or the first that works, then from an ephemeral container. passed is why the earlier ways did not work.
// last is the way of the conversation that the pool had with the same container before, if any: its program may still be there.
func (p *Pool) open(ctx context.Context, c model.ContainerRef, last Way) (s *Conversation, way Way, passed, err error) {
	var reasons []error
	own := func(ctx context.Context, c model.ContainerRef) (*Conversation, Way, []error, error) {
		return p.openOwn(ctx, c, last)
	}
	for _, try := range []func(context.Context, model.ContainerRef) (*Conversation, Way, []error, error){p.openInstalled, own, p.openBeside} {
		s, way, why, err := try(ctx, c)
		reasons = append(reasons, why...)
		if err != nil {
			return nil, "", nil, err
		}
		if s != nil {
			if len(reasons) > 0 {
				passed = errors.New(inOneLine(reasons))
			}
			return s, way, passed, nil
		}
	}
	return nil, "", nil, &impossible{reasons}
}

// openInstalled starts the program that the pod was given. A program of another build is not used: it may speak the same
// protocol and behave differently.
func (p *Pool) openInstalled(ctx context.Context, c model.ContainerRef) (*Conversation, Way, []error, error) {
	if c.Synclet == "" {
		return nil, "", nil, nil
	}
	s, err := p.attempt(ctx, c, func(ctx context.Context, exec Exec) (*stream, error) {
		return startExec(ctx, exec, []string{c.Synclet, "serve"}), nil
	})
	if err != nil && !unfit(err) {
		return nil, "", nil, err
	}
	return s, WayVolume, reason(WayVolume, err), nil
}

// openOwn uses the tools in the image. The verdict applies to all containers of the image.
func (p *Pool) openOwn(ctx context.Context, c model.ContainerRef, last Way) (*Conversation, Way, []error, error) {
	p.mu.Lock()
	known, ok := p.verdicts[c.Image]
	p.mu.Unlock()
	ways := ownWays
	if ok {
		ways = nil
		if known.way != "" {
			ways = []Way{known.way}
		}
	}
	v := verdict{reasons: slices.Clip(known.reasons)}
	if last == WayShell {
		s, err := p.openAgain(ctx, c)
		if s != nil || err != nil {
			return s, last, v.reasons, err
		}
	}
	for _, way := range ways {
		s, err := p.attemptOwn(ctx, c, way)
		if err == nil {
			v.way = way
			p.remember(c, v)
			return s, way, v.reasons, nil
		}
		if !unfit(err) {
			return nil, "", nil, err
		}
		v.reasons = append(v.reasons, reason(way, err)...)
		if code, ok := liveupdate.ExitCode(err); ok && code == exitNoFolder {
			break // tar would find none either
		}
	}
	p.remember(c, v)
	return nil, "", v.reasons, nil
}

// openAgain starts the program that the container still has: sending it over a slow connection takes seconds. It returns nil
// without an error if there is no program, if it is another one, or if it does not answer.
func (p *Pool) openAgain(ctx context.Context, c model.ContainerRef) (*Conversation, error) {
	s, err := p.attempt(ctx, c, func(ctx context.Context, exec Exec) (*stream, error) {
		return startExec(ctx, exec, []string{"sh", "-c", again}), nil
	})
	if err == nil {
		return s, nil
	}
	if _, exited := liveupdate.ExitCode(err); exited || errors.Is(err, errForeign) || errors.Is(err, errSilent) {
		return nil, nil
	}
	return nil, err
}

func (p *Pool) attemptOwn(ctx context.Context, c model.ContainerRef, way Way) (*Conversation, error) {
	arch := c.Arch
	if arch == "" {
		arch = runtime.GOARCH
	}
	prog, err := program.For(arch)
	if err != nil {
		return nil, &impossible{[]error{err}}
	}
	return p.attempt(ctx, c, func(ctx context.Context, exec Exec) (*stream, error) { return begin(ctx, exec, way, prog) })
}

func reason(way Way, err error) []error {
	if err == nil {
		return nil
	}
	return []error{&passed{way, err}}
}

// passed is why a way did not work.
type passed struct {
	way Way
	err error
}

// Error omits the layers of the cluster that passed the reason on.
func (p *passed) Error() string {
	text := strings.TrimSpace(p.err.Error())
	if i := strings.LastIndex(text, `exec: "`); i >= 0 {
		text = text[i:]
	}
	return string(p.way) + ": " + strings.Join(slices.Compact(strings.Split(text, "\n")), ", ")
}

// Unwrap returns the original reason.
func (p *passed) Unwrap() error { return p.err }

var _ error = (*passed)(nil)

func (p *Pool) remember(c model.ContainerRef, v verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.Image != "" {
		p.verdicts[c.Image] = v
	}
	if v.way == "" && c.Ref != "" {
		p.lockedOut[c.Ref] = true
	}
}

// attempt begins a conversation over the stream that start opens with the container's exec.
func (p *Pool) attempt(ctx context.Context, c model.ContainerRef, start func(context.Context, Exec) (*stream, error)) (*Conversation, error) {
	return p.attemptIn(ctx, c, c.Name, start)
}

func (p *Pool) attemptIn(ctx context.Context, c model.ContainerRef, container string, start func(context.Context, Exec) (*stream, error)) (*Conversation, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, openTimeout, errSilent)
	defer cancel()
	exec := func(ctx context.Context, argv []string, in io.Reader, out, errs io.Writer) error {
		return p.pods.Exec(ctx, k8s.ExecRequest{
			Cluster: c.Cluster, Namespace: c.Namespace, Pod: c.Pod, Container: container, Argv: argv, Stdin: in, Stdout: out, Stderr: errs, Quick: true,
		})
	}
	stream, err := start(ctx, exec)
	if err != nil {
		return nil, err
	}
	s, err := Open(ctx, stream, protocol.Hello{Places: Places(c.Syncs), Client: p.client(c)})
	if err != nil {
		return nil, stream.failure(err)
	}
	if build := s.Hello().Program; build != program.Build() {
		_ = s.Close()
		return nil, fmt.Errorf("%w: it has build %s, not %s", errForeign, build, program.Build())
	}
	s.copies = p.copies
	return s, nil
}
