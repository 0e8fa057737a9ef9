package imagebuild

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRealAhead delivers images on a base whose layers were sent ahead: they are pushed, not saved, also after the session.
func TestRealAhead(t *testing.T) {
	engine := &saves{Client: realEngine(t)}
	plan := Plan{Method: model.DeliverContainerd, Socket: Probe(t.Context()).ContainerdSocket}
	if plan.Socket == "" {
		t.Fatal("the cluster's containerd was not found")
	}
	build := func(contents string) (Request, model.ImageResult) {
		req := Request{Target: model.ImageTarget{Ref: "hone-test-ahead", Docker: &model.DockerBuild{Contents: contents}}}
		result, err := New(engine).Build(t.Context(), req)
		if err != nil {
			t.Fatal(problem.Text(err))
		}
		removeImage(t, engine, result)
		t.Cleanup(func() { forget(t, plan.Socket, "docker.io/library/"+result.Cluster) })
		return req, result
	}
	_, base := build("FROM busybox\nRUN head -c 20000000 /dev/urandom > /data\n")
	var last model.ImageResult
	for _, tc := range []struct {
		name  string
		ahead bool
		saves int
	}{{"nothing was sent ahead", false, 1}, {"the base was sent ahead", true, 0}, {"in the next session", true, 0}} {
		t.Run(tc.name, func(t *testing.T) {
			d := NewDeliverer(engine)
			defer d.Close()
			engine.refs = nil
			text := uuid.NewString()
			req, result := build(fmt.Sprintf("FROM %s\nRUN echo %s > /text\nCMD [\"cat\", \"/text\"]\n", base.Local, text))
			if tc.ahead {
				sent := d.Ahead(t.Context(), plan, req, last)
				d.layers(plan.Socket).on.Wait()
				if from, to := sent.Span(); !to.After(from) || to.After(time.Now()) {
					t.Errorf("the transfer lasted from %s to %s", from, to)
				}
				if again := d.Ahead(t.Context(), plan, req, last); again != nil {
					t.Error("the same layers were sent again")
				}
			}
			began := time.Now()
			if err := d.Deliver(t.Context(), plan, result, nil, nil); err != nil {
				t.Fatal(problem.Text(err))
			}
			t.Logf("took %s", time.Since(began))
			if len(engine.refs) != tc.saves {
				t.Errorf("saved %v", engine.refs)
			}
			if got := runPod(t, result.Cluster); strings.TrimSpace(got) != text {
				t.Errorf("the pod says %q", got)
			}
			image, _, err := engine.Inspect(t.Context(), result.ImageID)
			if err != nil || slices.ContainsFunc(image.Tags, func(tag string) bool { return strings.HasPrefix(tag, "127.0.0.1") }) {
				t.Errorf("tags %v, %v", image.Tags, err)
			}
			last = result
		})
	}
}

// saves is an engine that notes which images it saves.
type saves struct {
	docker.Client
	refs []string
}

func (s *saves) Save(ctx context.Context, refs []string) (io.ReadCloser, error) {
	s.refs = append(s.refs, refs...)
	return s.Client.Save(ctx, refs)
}
