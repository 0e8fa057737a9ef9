package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// Past is a session as it was at one moment.
type Past struct {
	View store.View
	At   time.Time
	// By is the version of hone that ran the session.
	By     string
	Events []api.Event
}

// ServePast serves the web page of a past session on o.TCP until ctx is done. Everything can be read and nothing can be changed. Of the
// options it uses Version, TCP, Token, PageLogin, Page, Logs and Answers.
func ServePast(ctx context.Context, o Options, p Past) error {
	s := New(o)
	s.past = &p
	src := &source{host: frozen{p.View}, changes: &s.changes}
	mux := http.NewServeMux()
	routes := s.routes(src)
	for _, r := range routes {
		serve := r.serve
		if method, path, _ := strings.Cut(r.pattern, " "); method != http.MethodGet || slices.Contains(presentOnly, path) {
			serve = func(w http.ResponseWriter, _ *http.Request) {
				fail(w, http.StatusConflict, "this is a snapshot: nothing can be changed in it, and no cluster is asked")
			}
		}
		mux.HandleFunc(r.pattern, serve)
	}
	servePage(mux, o.Page)
	if o.Docs != nil {
		serveDocs(mux, o.Docs)
	}
	mux.HandleFunc("/", missed(routes))
	guarded := access.Guard(access.Rules{Token: o.Token, Cookie: cookie(o.TCP), Tickets: s.options.PageLogin.tickets, Refuse: refuse}, s.recovered(mux))
	srv := access.Server(guarded)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if srv.Shutdown(stop) != nil {
			_ = srv.Close()
		}
	}()
	srv.BaseContext = baseContext(ctx)
	err := srv.Serve(access.Listen(o.TCP, nil, access.MaxConnections))
	cancel()
	<-stopped
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// presentOnly are the routes that read data which a snapshot does not have.
var presentOnly = []string{"/api/plan", "/api/revision", "/api/shell", "/api/architecture", "/api/object", "/api/previous", "/api/snapshot/follow"}

// pastEvents sends the events of a past session that a query wants.
func (s *Subscriber) pastEvents(w http.ResponseWriter, q eventQuery) {
	out := json.NewEncoder(w)
	for _, e := range s.past.Events {
		if e.Seq > q.cursor.After && q.cursor.Filter.Wants(e) {
			_ = out.Encode(e)
		}
	}
}

// pastOf returns the origin of a snapshot for the page; nil for a session that runs.
func (s *Subscriber) pastOf() *api.PagePast {
	if s.past == nil {
		return nil
	}
	return &api.PagePast{At: s.past.At, By: s.past.By}
}

// now returns the time of the session: in a snapshot nothing ages.
func (s *Subscriber) now() time.Time {
	if s.past != nil {
		return s.past.At
	}
	return time.Now()
}
