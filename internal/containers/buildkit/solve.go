package buildkit

import (
	"cmp"
	"context"

	control "github.com/moby/buildkit/api/services/control"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// Solve implements docker.BuildKit.
func (b *Builder) Solve(ctx context.Context, ask docker.Solve, each func(*control.StatusResponse)) (docker.Solved, error) {
	ended := b.ended.Load()
	got, err := ask.Through(ctx, b.control, exporter(ask.Output), each)
	if err != nil {
		return docker.Solved{}, b.explained(ctx, err, b.ended.Load() > ended)
	}
	return got, nil
}

// explained distinguishes an answer of the daemon from the loss of the connection, which looks alike where a registry does not answer the
// daemon. cut is set if a connection has ended meanwhile: a daemon that has been replaced may answer again, and knows nothing of the build.
func (b *Builder) explained(ctx context.Context, err error, cut bool) error {
	code := status.Code(err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case code == codes.Unavailable && (cut || b.Alive(ctx) != nil):
		return err
	case code == codes.Canceled || code == codes.Unimplemented:
		return err
	}
	return &refusal{status.Convert(err).Message()}
}

// exporter returns where the image goes.
func exporter(out *docker.Output) *control.Exporter {
	switch {
	case out == nil:
		return &control.Exporter{Type: "image", Attrs: map[string]string{}}
	case out.Layout != "" || out.Into != nil:
		return &control.Exporter{Type: "docker", Attrs: map[string]string{"tar": "false"}} // its manifest is the one that a registry would get
	case out.Repository != "":
		return &control.Exporter{Type: "image", Attrs: map[string]string{"name": out.Repository, "push": "true", "push-by-digest": "true"}}
	}
	return &control.Exporter{Type: "docker", Attrs: map[string]string{"name": cmp.Or(out.Name, "image")}}
}
