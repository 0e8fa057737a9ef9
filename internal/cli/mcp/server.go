package mcp

import (
	"context"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client"
)

// Options are the parts that a server works with.
type Options struct {
	Version string
	// Find finds the session that the tools ask. It is called for each call: a session may have ended, and another one have begun.
	Find func(context.Context) (*client.Client, error)
	// Start starts a session; nil for a server that must not.
	Start func(context.Context) error
	// ReadOnly leaves out all tools that change something.
	ReadOnly bool
	// Exec allows the tool that runs commands in containers.
	Exec bool
	// Run runs another hone, and returns its output and its errors, together, and its exit code.
	Run func(ctx context.Context, args ...string) (said string, code int, err error)
	// Snapshots is the folder that the tool snapshot writes to.
	Snapshots string
}

// Server serves the tools.
type Server struct {
	options Options
	mcp     *mcp.Server
	// serving is the context of Serve, and work are the goroutines that it waits for.
	serving context.Context
	work    sync.WaitGroup

	mu sync.Mutex
	// starting is the session that is being started; nil for none. Guarded by mu.
	starting *starting
}

// starting is the start of a session. done is closed at its end; err is its error.
type starting struct {
	done chan struct{}
	err  error
}

// instructions tell a model how to begin.
const instructions = `hone runs the services of this project while their code is edited, and brings each saved file into the running containers.
Ask status first: it says what is wrong and what waits. Ask why about a resource for the cause, the place in the source and the lines of output that matter; logs for more lines; diff for where the newest save runs.
Files need no deploying: save them, then call settle, which waits until they run and says whether they work.
Each answer has a summary, its items, the most important first, and the next question to ask. For the items that did not fit, call the tool again with the cursor of the answer and the same arguments. ` + foreignNotice

// NewServer returns a server with all tools, resources and prompts.
func NewServer(o Options) *Server {
	s := &Server{options: o}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "hone", Title: "hone", Version: o.Version}, &mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}})
	s.mcp.AddReceivingMiddleware(boundErrors)
	s.addQuestions()
	if !o.ReadOnly {
		s.addRequests()
	}
	s.addResources()
	s.addPrompts()
	return s
}

// session returns the session that a call is about. If there is none, it is started where that is allowed.
func (s *Server) session(ctx context.Context) (*client.Client, error) {
	c, err := s.options.Find(ctx)
	if err == nil || s.options.Start == nil {
		return c, err
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	if c, err = s.options.Find(ctx); err != nil {
		return nil, fmt.Errorf("find the session that was started: %w", err)
	}
	return c, nil
}

// start starts a session, or waits for the one that another call has begun to start. It may take longer than the call.
func (s *Server) start(ctx context.Context) error {
	s.mu.Lock()
	now := s.starting
	if now == nil {
		now = &starting{done: make(chan struct{})}
		s.starting = now
		s.work.Go(func() {
			now.err = s.options.Start(s.serving)
			s.mu.Lock()
			s.starting = nil
			s.mu.Unlock()
			close(now.done)
		})
	}
	s.mu.Unlock()
	select {
	case <-now.done:
		if now.err != nil {
			return problem.Wrap(now.err, "no session works on this folder, and none could be started", "start it yourself, and look: hone up")
		}
		return nil
	case <-ctx.Done():
		return problem.New("the session is still being started", "call again in a moment")
	}
}

// hints returns the annotations of a tool. Nothing that a tool does leaves the session's own world.
func hints(title string, h hint) *mcp.ToolAnnotations {
	world := h.world
	destroys := h.destroys
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: h.reads, DestructiveHint: &destroys, IdempotentHint: h.again, OpenWorldHint: &world}
}

// hint describes the effect of a tool on its environment.
type hint struct {
	// reads: nothing changes.
	reads bool
	// destroys: something may be lost.
	destroys bool
	// again: a second call changes nothing more.
	again bool
	// world: it runs what the project has declared, or a client wants, which may reach anything.
	world bool
}
