package buildkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	control "github.com/moby/buildkit/api/services/control"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// digestKey is the daemon's name for the digest of the image that it has exported.
const digestKey = "containerimage.digest"

// solved is the answer to a request to build.
type solved struct {
	id  string
	err error
}

// Solve implements docker.BuildKit.
func (b *Builder) Solve(ctx context.Context, req docker.BuildRequest, args map[string]*string, session string, each func(*control.StatusResponse)) (string, error) {
	ask, err := request(req, args, session)
	if err != nil {
		return "", err
	}
	reports, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := make(chan solved, 1)
	go func() {
		resp, err := b.control.Solve(ctx, ask)
		if err != nil {
			cancel() // of a build that did not begin, no report comes
		}
		answer <- solved{resp.GetExporterResponse()[digestKey], err}
	}()
	b.follow(reports, ask.GetRef(), each)
	got := <-answer
	switch {
	case got.err != nil:
		return "", b.explained(ctx, got.err)
	case got.id == "":
		return "", errors.New("build: the builder did not report the image that it built")
	}
	return got.id, nil
}

// follow passes on the reports of the daemon about a build until its end.
func (b *Builder) follow(ctx context.Context, ref string, each func(*control.StatusResponse)) {
	stream, err := b.control.Status(ctx, &control.StatusRequest{Ref: ref})
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

// explained distinguishes an answer of the daemon from the loss of the connection, which looks alike where a registry does not answer the
// daemon.
func (b *Builder) explained(ctx context.Context, err error) error {
	code := status.Code(err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case code == codes.Unavailable && b.Alive(ctx) != nil:
		return err
	case code == codes.Canceled || code == codes.Unimplemented:
		return err
	}
	return &refusal{status.Convert(err).Message()}
}

// request is the build as the daemon gets it.
func request(req docker.BuildRequest, args map[string]*string, session string) (*control.SolveRequest, error) {
	attrs := frontend(req, args)
	imports := make([]*control.CacheOptionsEntry, 0, len(req.CacheFrom))
	for _, ref := range req.CacheFrom {
		imports = append(imports, &control.CacheOptionsEntry{Type: "registry", Attrs: map[string]string{"ref": ref}})
	}
	if len(imports) > 0 {
		text, err := json.Marshal(imports)
		if err != nil {
			return nil, fmt.Errorf("build: %w", err)
		}
		attrs["cache-imports"] = string(text)
	}
	to := exporter(req.Output)
	return &control.SolveRequest{
		Ref: uuid.NewString(), Session: session, Frontend: "dockerfile.v0", FrontendAttrs: attrs,
		Exporters: []*control.Exporter{to}, ExporterDeprecated: to.GetType(), ExporterAttrsDeprecated: to.GetAttrs(),
		Cache: &control.CacheOptions{Imports: imports},
	}, nil
}

// frontend returns the settings of the build of a Dockerfile.
func frontend(req docker.BuildRequest, args map[string]*string) map[string]string {
	attrs := map[string]string{"filename": "Dockerfile"}
	for key, value := range map[string]string{"target": req.Target, "platform": req.Platform, "add-hosts": hosts(req.ExtraHosts)} {
		if value != "" {
			attrs[key] = value
		}
	}
	switch req.Network {
	case "host", "none":
		attrs["force-network-mode"] = req.Network
	}
	if req.NoCache {
		attrs["no-cache"] = ""
	}
	if req.Pull {
		attrs["image-resolve-mode"] = "pull"
	}
	for name, value := range args {
		if value != nil {
			attrs["build-arg:"+name] = *value
		}
	}
	for name, value := range req.Labels {
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

// exporter returns where the image goes.
func exporter(out *docker.Output) *control.Exporter {
	switch {
	case out == nil:
		return &control.Exporter{Type: "image", Attrs: map[string]string{}}
	case out.Repository != "":
		return &control.Exporter{Type: "image", Attrs: map[string]string{"name": out.Repository, "push": "true", "push-by-digest": "true"}}
	}
	return &control.Exporter{Type: "docker", Attrs: map[string]string{"name": cmp.Or(out.Name, "image")}}
}
