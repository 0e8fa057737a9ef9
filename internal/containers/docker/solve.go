package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"
	control "github.com/moby/buildkit/api/services/control"
)

// Solve is a build as a BuildKit gets it.
type Solve struct {
	BuildRequest
	// Args are the arguments of the request with the values of the environment.
	Args map[string]*string
	// Session is the id of the session that serves files of this machine.
	Session string
	// Imports and Exports are the caches of the request. Their attributes may be credentials.
	Imports, Exports []*control.CacheOptionsEntry
}

// Solved is the answer of a BuildKit to a build.
type Solved struct {
	// ID is the id of the image.
	ID string
	// Cache is the descriptor of the cache that the build has written, in JSON; empty if it has written none.
	Cache string
}

const (
	// digestKey is BuildKit's name for the digest of the image that it has exported, and cacheKey for the descriptor of the cache.
	digestKey = "containerimage.digest"
	cacheKey  = "cache.manifest"
)

// Through has a daemon build, which exports the image as to says. It passes the daemon's reports to each, on the caller's goroutine. Errors
// come from gRPC.
func (s Solve) Through(ctx context.Context, c control.ControlClient, to *control.Exporter, each func(*control.StatusResponse)) (Solved, error) {
	ask, err := s.request(to)
	if err != nil {
		return Solved{}, err
	}
	reports, cancel := context.WithCancel(ctx)
	defer cancel()
	type answered struct {
		*control.SolveResponse
		err error
	}
	answer := make(chan answered, 1)
	var begun atomic.Bool
	go func() {
		resp, err := c.Solve(ctx, ask)
		if err != nil && !begun.Load() {
			cancel() // of a build that did not begin, no report comes; the last one about another tells the step that failed
		}
		answer <- answered{resp, err}
	}()
	follow(reports, c, ask.GetRef(), func(report *control.StatusResponse) {
		begun.Store(true)
		each(report)
	})
	got := <-answer
	said := got.GetExporterResponse()
	return Solved{ID: said[digestKey], Cache: said[cacheKey]}, got.err
}

// follow passes on the reports of the daemon about a build until its end.
func follow(ctx context.Context, c control.ControlClient, ref string, each func(*control.StatusResponse)) {
	stream, err := c.Status(ctx, &control.StatusRequest{Ref: ref})
	if err != nil {
		return // the answer to the request tells why
	}
	for {
		report, err := stream.Recv()
		if err != nil {
			return
		}
		each(report)
	}
}

// request is the build as a daemon gets it.
func (s Solve) request(to *control.Exporter) (*control.SolveRequest, error) {
	attrs := s.frontend()
	for _, base := range s.Bases {
		key, value, err := base.named()
		if err != nil {
			return nil, err
		}
		attrs[key] = value
	}
	if len(s.Imports) > 0 {
		text, err := json.Marshal(s.Imports)
		if err != nil {
			return nil, fmt.Errorf("build: %w", err)
		}
		attrs["cache-imports"] = string(text)
	}
	var allowed []string
	if s.Network == "host" {
		allowed = []string{"network.host"} // a daemon may refuse it
	}
	return &control.SolveRequest{
		Ref: uuid.NewString(), Session: s.Session, Frontend: "dockerfile.v0", FrontendAttrs: attrs,
		Exporters: []*control.Exporter{to}, ExporterDeprecated: to.GetType(), ExporterAttrsDeprecated: to.GetAttrs(),
		Cache: &control.CacheOptions{Imports: s.Imports, Exports: s.Exports}, Entitlements: allowed,
	}, nil
}

// frontend returns the settings of the build of a Dockerfile.
func (s Solve) frontend() map[string]string {
	attrs := map[string]string{"filename": dockerfileName}
	for key, value := range map[string]string{"target": s.Target, "platform": s.Platform, "add-hosts": hosts(s.ExtraHosts)} {
		if value != "" {
			attrs[key] = value
		}
	}
	switch s.Network {
	case "host", "none":
		attrs["force-network-mode"] = s.Network
	}
	if s.NoCache {
		attrs["no-cache"] = ""
	}
	if s.Pull {
		attrs["image-resolve-mode"] = "pull"
	}
	for name, value := range s.Args {
		if value != nil {
			attrs["build-arg:"+name] = *value
		}
	}
	for name, value := range s.Labels {
		attrs["label:"+name] = value
	}
	return attrs
}

// hosts turns "HOST:IP" or "HOST=IP" into the daemon's form.
func hosts(all []string) string {
	out := make([]string, 0, len(all))
	for _, h := range all {
		at := strings.IndexAny(h, ":=")
		if at > 0 {
			out = append(out, h[:at]+"="+strings.Trim(h[at+1:], "[]"))
		}
	}
	return strings.Join(out, ",")
}
