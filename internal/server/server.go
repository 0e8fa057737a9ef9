// Package server answers scripts and other programs about the running session over HTTP on a loopback port: what every
// resource does, the wish to update one now, and clicks of the Tiltfile's buttons.
//
// # Concurrency
//
// Run owns the HTTP server and its goroutines, and ends them.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/buildcontrol"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	name = "Server"
	// maxBody bounds a request; the longest is a list of resource names.
	maxBody = 1 << 20
	// headerTimeout and stopTimeout keep a client that does not talk from holding a connection.
	headerTimeout = 5 * time.Second
	stopTimeout   = 2 * time.Second
)

// Subscriber is the Server.
type Subscriber struct {
	listener net.Listener
	version  string
}

// New returns the subscriber. It serves on the listener, which it closes; a nil listener serves nothing.
func New(l net.Listener, version string) *Subscriber {
	return &Subscriber{listener: l, version: version}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name: name,
		Doc:  "Serves the session's API: what every resource does, triggers and clicks.",
		Inputs: append(buildcontrol.Tables(), store.Reads(state.Forwards, state.Services, state.Watches, state.Buttons, state.Commands,
			state.ConfigMaps, state.Subscribers)...),
		Outputs:   store.Shares(state.ResourcesTriggered{}, state.ButtonClicked{}),
		Externals: []string{"sockets"},
		Stage:     store.StageInput,
		Feedback:  "a trigger or a click is a wish of somebody outside, never an answer to the table",
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.listener == nil {
		<-ctx.Done()
		return nil
	}
	srv := &http.Server{Handler: s.handler(rt), ReadHeaderTimeout: headerTimeout,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(s.listener) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve the session's API: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		_ = srv.Close()
	}
	<-done
	return nil
}

func (s *Subscriber) handler(rt *store.Runtime) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/view", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		_ = enc.Encode(View(rt.View(), s.version))
	})
	mux.HandleFunc("POST /api/click", func(w http.ResponseWriter, r *http.Request) { click(rt, w, r) })
	mux.HandleFunc("POST /api/trigger", func(w http.ResponseWriter, r *http.Request) { trigger(rt, w, r) })
	return guard(mux)
}

// guard refuses requests that a web page of somebody else could have made: a foreign Host or Origin, which are how a
// browser betrays one, and bodies that a form can send.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r.Host) {
			fail(w, http.StatusForbidden, fmt.Sprintf("host %q is not this machine", r.Host))
			return
		}
		if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
			fail(w, http.StatusForbidden, fmt.Sprintf("origin %q may not use this API", o))
			return
		}
		if r.Method == http.MethodPost {
			if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
				fail(w, http.StatusUnsupportedMediaType, "send JSON, with Content-Type: application/json")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// local reports whether a Host header names this machine by address, or as localhost: names could be made to resolve
// here by anybody.
func local(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	return host == "localhost" || net.ParseIP(host) != nil
}

func fail(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(api.Failure{Error: text})
}

func trigger(rt *store.Runtime, w http.ResponseWriter, r *http.Request) {
	var req api.TriggerRequest
	if !decode(w, r, &req) {
		return
	}
	names, err := known(rt.View(), req.ManifestNames)
	if err != nil {
		fail(w, http.StatusNotFound, err.Error())
		return
	}
	rt.Dispatch(state.ResourcesTriggered{Names: names})
	done(w)
}

// decode reads a request's body into req, or answers what is wrong with it.
func decode(w http.ResponseWriter, r *http.Request, req any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(req); err != nil {
		fail(w, http.StatusBadRequest, "read the request: "+err.Error())
		return false
	}
	return true
}

// done answers a request that asks for nothing but that something is done.
func done(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte("{}\n"))
}

// known returns the names that a trigger asks for, if all of them exist.
func known(v store.View, asked []string) ([]model.ManifestName, error) {
	if len(asked) == 0 {
		return nil, errors.New("name at least one resource")
	}
	all := []string{string(model.TiltfileName)}
	for _, e := range state.InOrder(v) {
		all = append(all, e.ID)
	}
	var names []model.ManifestName
	for _, n := range asked {
		if !slices.Contains(all, n) {
			return nil, fmt.Errorf("no resource is called %q; there are: %s", n, strings.Join(all, ", "))
		}
		names = append(names, model.ManifestName(n))
	}
	return names, nil
}
