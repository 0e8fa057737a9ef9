package docker

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	control "github.com/moby/buildkit/api/services/control"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// controlKit is the BuildKit inside an engine, by the interface that daemons of BuildKit have: unlike the engine's own endpoint for builds,
// it takes every cache.
type controlKit struct {
	engineKit
	control control.ControlClient
}

var _ BuildKit = controlKit{}

// buildInKit builds with the engine's BuildKit.
func (e *Engine) buildInKit(ctx context.Context, req BuildRequest, away *gone) (string, error) {
	if plainCaches(req) {
		return buildThrough(ctx, req, engineKit{e}, e.config, away)
	}
	// The connection lives as long as the build.
	dial := func(context.Context, string) (net.Conn, error) { return e.api.DialHijack(ctx, "/grpc", "h2c", nil) }
	conn, err := grpc.NewClient("passthrough:///engine", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage)))
	if err != nil {
		return "", fmt.Errorf("build: %w", err)
	}
	defer conn.Close()
	return buildThrough(ctx, req, controlKit{engineKit{e}, control.NewControlClient(conn)}, e.config, away)
}

// MaxMessage is the size in bytes of the largest message that a BuildKit may send: one with progress.
const MaxMessage = 16 << 20

// Solve implements BuildKit.
func (k controlKit) Solve(ctx context.Context, ask Solve, each func(*control.StatusResponse)) (Solved, error) {
	to := &control.Exporter{Type: "moby", Attrs: map[string]string{}} // the engine's images
	if len(ask.Tags) > 0 {
		to.Attrs["name"] = strings.Join(ask.Tags, ",")
	}
	got, err := ask.Through(ctx, k.control, to, each)
	switch code := status.Code(err); {
	case err == nil:
		return got, nil
	case ctx.Err() != nil:
		return Solved{}, ctx.Err()
	case code == codes.Unavailable || code == codes.Canceled:
		return Solved{}, err
	}
	return Solved{}, &streamError{status.Convert(err).Message()}
}

// plainCaches reports whether a build reads caches only from images, and writes one only into its own: the engine's endpoint for builds takes
// no others.
func plainCaches(req BuildRequest) bool {
	reads := slices.ContainsFunc(req.CacheFrom, func(c model.BuildCache) bool { return !plain(c) })
	return !reads && !slices.ContainsFunc(req.CacheTo, func(c model.BuildCache) bool { return c.Type != model.CacheInline })
}

func plain(c model.BuildCache) bool {
	_, ok := c.Plain()
	return ok
}

// references returns the references of those caches that are images.
func references(caches []model.BuildCache) (out []string) {
	for _, c := range caches {
		if ref, ok := c.Plain(); ok {
			out = append(out, ref)
		}
	}
	return out
}

// supported returns the request without the caches that the engine does not have, and says so.
func (e *Engine) supported(ctx context.Context, req BuildRequest, buildKit bool) (BuildRequest, error) {
	if buildKit && plainCaches(req) {
		return req, nil
	}
	if !buildKit {
		return without(req, "the engine's classic builder", func(c model.BuildCache) bool { return !plain(c) }, func(model.BuildCache) bool { return true }), nil
	}
	if slices.ContainsFunc(req.ExtraHosts, func(h string) bool { return strings.HasSuffix(h, "host-gateway") }) { // only that endpoint knows its address
		return without(req, "the engine in a build with host-gateway", func(c model.BuildCache) bool { return !plain(c) },
			func(c model.BuildCache) bool { return c.Type != model.CacheInline }), nil
	}
	info, err := e.api.Info(ctx)
	if err != nil || manifestIDs(info) {
		return req, err
	}
	// Layers outside of containerd's store are not kept in the form in which a cache needs them.
	return without(req, "the engine without containerd's image store", func(c model.BuildCache) bool { return c.Type == model.CacheGHA },
		func(c model.BuildCache) bool { return c.Type != model.CacheInline }), nil
}

// without removes caches that a builder lacks from a request, and names them.
func without(req BuildRequest, who string, from, to func(model.BuildCache) bool) BuildRequest {
	var lost []string
	split := func(argument string, all []model.BuildCache, lacks func(model.BuildCache) bool) (kept []model.BuildCache) {
		for _, c := range all {
			if lacks(c) {
				lost = append(lost, argument+" type="+c.Type)
				continue
			}
			kept = append(kept, c)
		}
		return kept
	}
	req.CacheFrom, req.CacheTo = split("cache_from", req.CacheFrom, from), split("cache_to", req.CacheTo, to)
	if len(lost) > 0 {
		logstore.Warnf(req.Log, "Building without %s, which %s does not have: use another builder (--builder, see hone docs builders)",
			strings.Join(slices.Compact(lost), ", "), who)
	}
	return req
}
