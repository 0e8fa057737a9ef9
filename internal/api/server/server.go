// Package server serves the API of the running session over HTTP, on a unix socket and on a loopback port: objects by the
// conventions of Kubernetes (see package rest), and requests that do not fit these: the view of all resources, triggers,
// clicks of the Tiltfile's buttons, logs, events, and the end of the session. It also serves the web page, which is a client
// of this API.
//
// # Concurrency
//
// Run owns the HTTP servers and their goroutines, and ends them. Clients cannot block the loop: requests read snapshots and
// write by dispatching actions.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/api/server/rest"
	"github.com/hone-dev/hone/internal/api/tables"
	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	name = "Server"
	// maxBody limits the body of a request to hone's own routes; the longest body is a list of resource names.
	maxBody = 1 << 20
	// stopTimeout limits how long a client that does not read can delay the end of the session.
	stopTimeout = 2 * time.Second
)

// Options select the listeners of the API and its content.
type Options struct {
	Version string
	// Unix and TCP are the listeners, which the server closes; a nil listener is not served. Every client that can connect to
	// Unix may do everything: the mode of the socket's file controls access.
	Unix, TCP net.Listener
	// Token is the token that requests over TCP must have. If it is empty, all these requests are refused.
	Token string
	// Grants are the tokens with a part of the owner's rights; nil means a new set. They end with Run.
	Grants *access.Grants
	// Certificate lets connections over TCP use TLS; without a certificate they are plain.
	Certificate *tls.Certificate
	// Hosts are names of this machine that requests to the port may use, in addition to localhost and addresses.
	Hosts []string
	// PageLogin lets browsers in; nil lets none in. Page holds the files of the web page, with index.html; nil means that there is none.
	PageLogin *PageLogin
	Page      fs.FS
	// Docs returns a file of the documentation as a web site, by its name, or fs.ErrNotExist; nil means that there is none.
	Docs func(name string) ([]byte, error)
	// Agents serves the Model Context Protocol at /mcp; nil means that it is not served.
	Agents http.Handler
	// Graph returns hone's own parts; nil for a server that does not know them.
	Graph func() store.Graph
	// Kinds are served by the conventions of Kubernetes, in addition to the store's tables.
	Kinds []projection.Kind
	Logs  *logstore.Store
	// Plan returns the steps that the waiting updates would take now, as the cluster's API server says; nil for a session that
	// makes no plans.
	Plan func(ctx context.Context, v store.View) (api.Plan, error)
	// Revision returns the differences of a revision to the one before; nil for a session without a cluster.
	Revision func(ctx context.Context, v store.View, on string, number int) (api.Plan, error)
	// Answers answers questions about the session; nil for a server that does not know.
	Answers Answers
	// Stop ends the session.
	Stop func()
	// Object reads an object of the cluster as YAML for people, and Previous the newest lines of the run of a container before its
	// present one; nil for a session without a cluster.
	Object   func(ctx context.Context, o model.AppliedObject) (string, error)
	Previous func(ctx context.Context, of model.ContainerRef) ([]string, error)
	// ReadOnly makes a kubeconfig that reads some namespaces; without any, those of the project. It is nil for a session without a cluster.
	ReadOnly func(ctx context.Context, namespaces []string, lasting time.Duration) (api.Kubeconfig, error)
	// Kubeconfig is the list of the session's kubeconfig files, and Env are the environment variables that its commands have in
	// addition to its own. Shells use both.
	Kubeconfig string
	Env        []string
	// Log is hone's own log; nil means none.
	Log *slog.Logger
}

// Subscriber is the Server.
type Subscriber struct {
	options Options
	changes broadcast
	working *semaphore.Weighted
	feed    pageFeed
	windows logWindows
	// deployLocks counts the locks, for their IDs.
	deployLocks atomic.Uint64
	// past is set while a snapshot is served.
	past *Past
	// settled waits for changes of files; nil if there is nothing to wait for.
	settled func(context.Context) (time.Time, error)
	// unwatched finds inputs that nothing watches; its functions are nil if they cannot be found.
	unwatched Unwatched
	// goesOn asks a container whether the run that was updated in place goes on; nil if none can be asked. See AnswerBy.
	goesOn func(ctx context.Context, id string, synced bool) (goesOn, known bool)
}

// work runs a part of a request's work within the limit. It returns false if ctx is done before that.
func (s *Subscriber) work(ctx context.Context, do func()) bool {
	if s.working.Acquire(ctx, 1) != nil {
		return false
	}
	defer s.working.Release(1)
	do()
	return true
}

// New returns the subscriber.
func New(o Options) *Subscriber {
	if o.PageLogin == nil {
		o.PageLogin = NewPageLogin(nil)
	}
	if o.Grants == nil {
		o.Grants = new(access.Grants)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Subscriber{options: o, working: rest.NewLimit()}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:   name,
		Doc:    "Serves the session's API: every table, objects for scripts, logs, triggers and clicks.",
		Inputs: store.WithReleases(store.ReadsAll(state.Schema)),
		Outputs: store.Shares(append(projection.Actions(), state.ResourcesTriggered{}, state.ResourcesRestarted{}, state.SessionPaused{}, state.SessionResumed{}, state.ChangesConfirmed{},
			state.ResourcesRestored{}, state.DriftAccepted{}, state.PruneAllowed{}, state.ForwardsChosen{}, state.ObjectsTakenDown{}, state.DeployLockTaken{}, state.DeployLockReleased{},
			state.ScreenOpened{}, state.ScreenMoved{}, state.ScreenClosed{}, state.RequestMade{})...),
		Calls: []store.Call{
			{To: "WatchManager", Doc: "For clients that wait, it asks that all changes of files made so far be known."},
			{To: "SyncletManager", Doc: "Before it says that files are live, it asks the containers that have them to answer."},
		},
		Externals: []string{"sockets"},
		Stage:     store.StageInput,
		Feedback:  "what it writes comes from requests, never in response to a table",
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	for _, t := range state.TheSession(rt.View()).DeployLocks {
		rt.Dispatch(state.DeployLockReleased{ID: t.ID}) // its connection ended with the last Run
	}
	defer s.options.Grants.End()
	handler := s.handler(rt)
	var servers []*http.Server
	failed := make(chan error, 2)
	var all sync.WaitGroup
	serve := func(l net.Listener, certificate *tls.Certificate, rules access.Rules) {
		if l == nil {
			return
		}
		rules.Refuse = refuse
		guarded := access.Guard(rules, handler)
		if !rules.Local {
			guarded = access.Pace(ctx, guarded)
		}
		srv := access.Server(guarded)
		srv.BaseContext = baseContext(ctx)
		srv.ErrorLog = slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug)
		servers = append(servers, srv)
		all.Go(func() {
			if err := srv.Serve(access.Listen(l, certificate, access.MaxConnections)); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	serve(s.options.Unix, nil, access.Rules{Local: true, Token: s.options.Token, Grants: s.options.Grants})
	serve(s.options.TCP, s.options.Certificate, access.Rules{Token: s.options.Token, Grants: s.options.Grants, Hosts: s.options.Hosts, Cookie: cookie(s.options.TCP), Tickets: s.options.PageLogin.tickets})
	err := s.announce(ctx, rt, failed)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	for _, srv := range servers {
		if srv.Shutdown(stop) != nil {
			_ = srv.Close()
		}
	}
	all.Wait()
	return err
}

func baseContext(ctx context.Context) func(net.Listener) context.Context {
	return func(net.Listener) context.Context { return ctx }
}

// announce notifies requests of new snapshots until ctx is done or a server has failed. After each notification it pauses for
// a moment, so that changes in quick succession are handled together.
func (s *Subscriber) announce(ctx context.Context, rt *store.Runtime, failed <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return fmt.Errorf("serve the session's API: %w", err)
		case <-rt.Wake():
		}
		s.changes.tell()
		retry.Sleep(ctx, restBetween)
	}
}

// restBetween is the minimum time between two notifications of requests.
const restBetween = 2 * time.Millisecond

// cookie names the cookie that lets a browser into this session, by its port.
func cookie(l net.Listener) string {
	if l == nil {
		return ""
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "hone-session-" + port
}

// refuse responds to a refused request in the format of the requested path.
func refuse(w http.ResponseWriter, r *http.Request, code int, text string) {
	switch html := wantsHTML(r); {
	case html && code == http.StatusUnauthorized:
		shut(w)
		return
	case html && isDocs(r):
		say(w, code, text, `<p><a href="/docs/">All pages</a></p>`)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/" {
		fail(w, code, text)
		return
	}
	rest.Refuse(w, r, code, text)
}

// handler returns the handler of all requests that access.Guard lets through.
func (s *Subscriber) handler(rt *store.Runtime) http.Handler {
	src := &source{host: rt, changes: &s.changes}
	all := append(append([]projection.Kind(nil), s.options.Kinds...), tables.All(state.Schema)...)
	src.writer = rest.NewWriter(src)
	objects := rest.New(src.writer, s.options.Version, s.working, append(append(all, tables.Tests()), tables.Machine(rt)...))
	mux := http.NewServeMux()
	src.writer.Sign = sign
	for _, path := range rest.Paths {
		mux.HandleFunc(path, permitted(objects))
	}
	routes := s.routes(src)
	objects.Describe(openAPIName, func() map[string]any { return describe(routes) })
	for _, r := range routes {
		mux.HandleFunc(r.pattern, r.permitted())
	}
	if s.options.Page != nil {
		servePage(mux, s.options.Page)
	}
	if s.options.Docs != nil {
		serveDocs(mux, s.options.Docs)
	}
	if s.options.Agents != nil {
		mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
			access.Endless(w) // a tool may wait, for less than a minute
			access.ActorOf(r.Context()).Delegate(r)
			s.options.Agents.ServeHTTP(w, r)
		})
	}
	mux.HandleFunc("/", missed(routes))
	return s.recovered(mux)
}

// recovered turns a panic in a request into an error response and a line in the log.
func (s *Subscriber) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p) // the answer must not look complete
			default:
				bug.Caught("answer "+r.Method+" "+words.Clip(r.URL.Path, access.MostEchoed), p)
				refuse(w, r, http.StatusInternalServerError, "this request ran into a bug in hone")
			}
		}()
		next.ServeHTTP(w, r)
	})
}
