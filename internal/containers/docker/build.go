package docker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/docker/docker/api/types/build"
	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
)

// Build implements Client.
func (e *Engine) Build(ctx context.Context, req BuildRequest) (string, error) {
	if req.Log == nil {
		req.Log = logstore.Discard
	}
	if err := req.Check(); err != nil {
		return "", err
	}
	ping, err := e.api.Ping(ctx)
	if err != nil {
		return "", ctxOr(ctx, e.wrap("ping the docker engine", err))
	}
	e.api.NegotiateAPIVersionPing(ping)
	buildKit := e.hasBuildKit(string(ping.BuilderVersion), ping.OSType)
	if req, err = e.supported(ctx, req, buildKit); err != nil {
		return "", ctxOr(ctx, e.wrap("ask the docker engine for its properties", err))
	}
	id, err := wholly(req, func(away *gone) (string, error) { return e.buildWith(ctx, req, buildKit, away) })
	return id, e.orAway(ctx, err)
}

// contextTries is the largest number of attempts to build an image while files are temporarily missing.
const contextTries = 3

// wholly builds, and builds again if files were missing while the builder fetched the context.
func wholly(req BuildRequest, build func(away *gone) (string, error)) (string, error) {
	for tries := 1; ; tries++ {
		away := &gone{}
		id, err := build(away)
		back := away.back()
		if err != nil || len(back) == 0 || tries == contextTries {
			return id, err
		}
		logstore.Infof(req.Log, "Building again: %s was missing while the engine fetched the files (%d in total)", back[0], len(back))
	}
}

func (e *Engine) buildWith(ctx context.Context, req BuildRequest, buildKit bool, away *gone) (string, error) {
	if !buildKit {
		return e.buildClassic(ctx, req, away)
	}
	id, err := e.buildInKit(ctx, req, away)
	var noSession *sessionError
	if ctx.Err() == nil && errors.As(err, &noSession) {
		logstore.Infof(req.Log, "The engine has no BuildKit (%v): building with its classic builder.", noSession.err)
		return e.buildClassic(ctx, req, away)
	}
	return id, err
}

// Check reports a request without a Dockerfile.
func (r BuildRequest) Check() error {
	if r.Contents != "" {
		return nil
	}
	name := r.Dockerfile
	if name == "" {
		name = dockerfileName
	}
	if r.Dockerfile != "" && !exists(r.Dockerfile) {
		return &UserError{problem.New("the Dockerfile "+name+" does not exist",
			"create it, or name another one: docker_build(…, dockerfile=\"PATH\")")}
	}
	return &UserError{problem.New("the Dockerfile "+name+" is empty", "begin it with FROM")}
}

// buildOptions returns the options that both builders support.
func (e *Engine) buildOptions(req BuildRequest) build.ImageBuildOptions {
	return build.ImageBuildOptions{
		Tags: req.Tags, NoCache: req.NoCache, PullParent: req.Pull, Remove: true, ForceRemove: true, NetworkMode: req.Network,
		Dockerfile: dockerfileName, BuildArgs: e.config.buildArgs(e.endpoint.Host, req.BuildArgs), Labels: req.Labels,
		CacheFrom: references(req.CacheFrom), ExtraHosts: req.ExtraHosts, Target: req.Target, Platform: req.Platform,
		BuildID: uuid.NewString(),
	}
}

// cancelTime is the time that the engine may take to accept the cancellation of a build.
const cancelTime = 5 * time.Second

// afterFunc works like context.AfterFunc, but its stop also waits for f if f has begun.
func afterFunc(ctx context.Context, f func()) (stop func()) {
	done := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() { defer close(done); f() })
	return func() {
		if !cancel() {
			<-done
		}
	}
}

// runBuild sends a build request, passes the messages of the answer to each, and returns the image's id.
func (e *Engine) runBuild(ctx context.Context, body io.Reader, opts build.ImageBuildOptions, each func(message)) (string, error) {
	stop := afterFunc(ctx, func() {
		// The build's context has ended, so the cancellation needs its own.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
		defer cancel()
		_ = e.api.BuildCancel(ctx, opts.BuildID) // closing the connection, which also happens, cancels the build as well
	})
	defer stop()
	resp, err := e.api.ImageBuild(ctx, body, opts)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	id := ""
	err = readStream(resp.Body, func(m message) error {
		if got := imageID(m); got != "" {
			id = got
		}
		each(m)
		return nil
	})
	if err != nil {
		return "", err
	}
	if id == "" {
		return "", errors.New("build: the engine did not report the image that it built")
	}
	return id, nil
}

// imageMessage is BuildKit's name for the message with the id of the image.
const imageMessage = "moby.image.id"

// imageID returns the id of the image if m contains it: BuildKit sends it in a separate message, the classic builder in
// the last auxiliary one.
func imageID(m message) string {
	kind := cmp.Or(m.ID, imageMessage)
	if kind != imageMessage || !bytes.HasPrefix(m.Aux, []byte("{")) {
		return ""
	}
	var result struct{ ID string }
	if json.Unmarshal(m.Aux, &result) != nil {
		return ""
	}
	return result.ID
}
