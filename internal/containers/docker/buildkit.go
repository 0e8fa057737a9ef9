package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"

	"github.com/docker/docker/api/types/build"
	control "github.com/moby/buildkit/api/services/control"
	"github.com/moby/buildkit/session/content"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// BuildKit is a builder that fetches files of this machine through a session: the one inside an engine, or a daemon.
type BuildKit interface {
	// DialSession opens the builder's end of a session.
	DialSession(ctx context.Context, proto string, meta map[string][]string) (net.Conn, error)
	// Solve builds with the session. It passes BuildKit's reports to each, on the caller's goroutine. When ctx ends, the build is cancelled.
	Solve(ctx context.Context, ask Solve, each func(*control.StatusResponse)) (Solved, error)
	// Address is the address of the builder, for the user's configuration of proxies.
	Address() string
	// Refused reports whether err is an answer about the build, rather than a failure to talk to the builder.
	Refused(err error) bool
	// Wrap adds the operation that failed, or returns an unreachable error if the builder does not answer.
	Wrap(op string, err error) error
}

// BuildThrough builds an image as Client.Build does, with another BuildKit than an engine's.
func BuildThrough(ctx context.Context, req BuildRequest, kit BuildKit) (string, error) {
	if req.Log == nil {
		req.Log = logstore.Discard
	}
	if err := req.Check(); err != nil {
		return "", err
	}
	config := newUserConfig(ConfigDir())
	return wholly(req, func(away *gone) (string, error) { return buildThrough(ctx, req, kit, config, away) })
}

func buildThrough(ctx context.Context, req BuildRequest, kit BuildKit, config *userConfig, away *gone) (string, error) {
	cached, err := openCaches(ctx, req)
	if err != nil {
		return "", err
	}
	s, err := newSession(ctx, req, config, away)
	if err != nil {
		return "", err
	}
	stores := cached.and(req.Bases)
	if err := req.Output.store(stores); err != nil {
		return "", err
	}
	if len(stores) > 0 {
		s.Allow(content.NewAttachable(stores))
	}
	buildCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	serving := s.serve(buildCtx, kit.DialSession, cancel)
	defer serving.stop()

	printer := newTracePrinter(req.Log)
	printer.step = req.step
	ask := Solve{BuildRequest: req, Args: config.buildArgs(kit.Address(), req.BuildArgs), Session: s.ID(), Imports: cached.imports, Exports: cached.exports}
	got, err := kit.Solve(buildCtx, ask, printer.status)
	printer.finish()
	req.sent(printer.context)
	if err == nil && got.ID == "" {
		return "", errors.New("build: the builder did not report the image that it built")
	}
	if err == nil {
		cached.publish(got.Cache)
		return got.ID, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if wrong := s.names.wrong.Load(); wrong != nil {
		return "", &UserError{wrong}
	}
	if cause := context.Cause(buildCtx); cause != nil {
		return "", kit.Wrap("build", cause)
	}
	return "", buildFailure(req, kit, err, printer.failed())
}

// buildFailure distinguishes the user's errors from failures of the builder. at is the step that failed, if any.
func buildFailure(req BuildRequest, kit BuildKit, err error, at *Step) error {
	if !kit.Refused(err) {
		return kit.Wrap("build", err)
	}
	if p := Explain(req, err, at); p != nil {
		return p
	}
	return fmt.Errorf("build: %w", err)
}

// engineKit is the BuildKit inside an engine.
type engineKit struct{ *Engine }

var _ BuildKit = engineKit{}

// DialSession implements BuildKit.
func (k engineKit) DialSession(ctx context.Context, proto string, meta map[string][]string) (net.Conn, error) {
	return k.api.DialHijack(ctx, "/session", proto, meta)
}

// Solve implements BuildKit.
func (k engineKit) Solve(ctx context.Context, ask Solve, each func(*control.StatusResponse)) (Solved, error) {
	opts := k.buildOptions(ask.BuildRequest)
	opts.Version = build.BuilderBuildKit
	opts.SessionID = ask.Session
	opts.RemoteContext = "client-session"
	if len(ask.Exports) > 0 { // an inline cache, as it takes no other
		opts.BuildArgs = maps.Clone(opts.BuildArgs)
		opts.BuildArgs["BUILDKIT_INLINE_CACHE"] = new("1")
	}
	id, err := k.runBuild(ctx, nil, opts, func(m message) {
		status, err := traceOf(m)
		switch {
		case err != nil:
			logstore.Debugf(ask.Log, "unreadable progress message of the engine")
		case status != nil:
			each(status)
		}
	})
	return Solved{ID: id}, err
}

// traceOf returns the report in a message of the engine, nil if it has none.
func traceOf(m message) (*control.StatusResponse, error) {
	if m.ID != "moby.buildkit.trace" {
		return nil, nil //nolint:nilnil // most messages have none
	}
	var data []byte
	var status control.StatusResponse
	if err := json.Unmarshal(m.Aux, &data); err != nil {
		return nil, err
	}
	return &status, status.UnmarshalVT(data)
}

// Address implements BuildKit.
func (k engineKit) Address() string { return k.endpoint.Host }

// Refused implements BuildKit.
func (k engineKit) Refused(err error) bool {
	var refused *streamError
	return errors.As(err, &refused) || isRequestError(err)
}

// Wrap implements BuildKit.
func (k engineKit) Wrap(op string, err error) error { return k.wrap(op, err) }
