package buildanddeploy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/base/operation/operationtest"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/compose/composetest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRuntimes: commands, services and images keep the contract of operation.Runtime.
func TestRuntimes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		traits operationtest.Traits
		start  func(t *testing.T) operationtest.Subject
	}{
		{"commands", operationtest.Traits{Items: 3, Repeats: true}, startCommands},
		{"services", operationtest.Traits{Items: 3}, startServices},
		{"real services", operationtest.Traits{Items: 3}, startRealServices},
		{"images", operationtest.Traits{Items: 3, Stays: true, Silent: true}, startImages},
	} {
		t.Run(tc.name, func(t *testing.T) {
			operationtest.Run(t, tc.traits, tc.start)
		})
	}
}

// madeBy are local resources whose commands make files, and whose down commands remove them.
type madeBy struct{ dir, state string }

func startCommands(t *testing.T) operationtest.Subject { return madeBy{t.TempDir(), t.TempDir()} }

func (m madeBy) file(item int) string { return filepath.Join(m.dir, fmt.Sprint("made", item)) }

func (m madeBy) Identity(t *testing.T, item int) string {
	t.Helper()
	got, err := os.ReadFile(m.file(item))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(got)
}

func (m madeBy) Runtime(*testing.T) operation.Runtime {
	r := &commands{downCommands: downsIn(m.state, PruneCarefully)}
	for i := range 3 {
		is := model.Manifest{Name: model.ManifestName(fmt.Sprint("made", i)), Local: &model.LocalTarget{
			Update: model.Cmd{Argv: []string{"sh", "-c", `date +%s%N > "$0"`, m.file(i)}, Dir: m.dir},
			Down:   model.Cmd{Argv: []string{"rm", "-f", m.file(i)}, Dir: m.dir},
		}}
		r.items = append(r.items, command{manifest: is, log: logstore.Discard, run: func(ctx context.Context) error {
			_, err := Local{}.run(ctx, Request{Manifest: is, Log: logstore.Discard, Commit: func() {}, Progress: func(string, string, model.BuildProgress) {}})
			return err
		}})
	}
	return r
}

// composed are services of Compose.
type composed struct {
	engine docker.Client
	items  []Service
}

func startServices(t *testing.T) operationtest.Subject {
	t.Helper()
	engine := dockertest.New()
	engine.AddImage("busybox")
	return newComposed(t, engine, composetest.New(engine))
}

// startRealServices runs Compose on the container engine of this machine.
func startRealServices(t *testing.T) operationtest.Subject {
	t.Helper()
	engine := dockertest.Real(t)
	t.Setenv("TILT_DOCKER_COMPOSE_CMD", composetest.Program(t))
	return newComposed(t, engine, compose.NewTool(engine.Env()))
}

func newComposed(t *testing.T, engine docker.Client, runner compose.Runner) composed {
	t.Helper()
	dir, text := t.TempDir(), "services:\n"
	for i := range 3 {
		text += fmt.Sprintf("  s%d: {image: busybox, command: [sleep, '100000'], stop_grace_period: 0s}\n", i)
	}
	path := filepath.Join(dir, "compose.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	project := model.ComposeProject{Name: "hone-test-" + uuid.NewString()[:8], Dir: dir, Files: []model.ComposeFile{{Path: path}}}
	t.Cleanup(func() {
		if err := runner.Down(context.WithoutCancel(t.Context()), project, true, logstore.Discard); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	c := composed{engine: engine}
	for i := range 3 {
		name := fmt.Sprint("s", i)
		c.items = append(c.items, Service{Resource: model.ManifestName(name), Target: &model.ComposeTarget{Project: project, Service: name, Image: "busybox"}, Log: logstore.Discard,
			Start: func(ctx context.Context) error {
				return runner.Up(ctx, project, compose.Up{Service: name}, logstore.Discard)
			}})
	}
	return c
}

func (c composed) Identity(t *testing.T, item int) string {
	t.Helper()
	list, err := compose.Containers(t.Context(), c.engine, c.items[item].Target.Project.Name, c.items[item].Target.Service)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		return ""
	}
	return list[0].ID
}

func (c composed) Runtime(*testing.T) operation.Runtime { return &services{c.engine, c.items} }

// pictures are images that a fake engine builds.
type pictures struct {
	engine *dockertest.Fake
	work   jobs
	refs   map[string]model.ImageResult
}

func startImages(t *testing.T) operationtest.Subject {
	t.Helper()
	p := pictures{engine: dockertest.New(), refs: map[string]model.ImageResult{}}
	p.engine.AddImage("busybox")
	for i := range 3 {
		ref := fmt.Sprint("image", i)
		p.work = append(p.work, job{build: true, target: model.ImageTarget{Ref: ref, Docker: &model.DockerBuild{Context: t.TempDir(), Contents: "FROM busybox\nLABEL n=" + ref + "\n"}}})
	}
	return p
}

func (p pictures) Identity(t *testing.T, item int) string {
	t.Helper()
	r, built := p.refs[p.work[item].target.Ref]
	if !built {
		return ""
	}
	im, found, err := p.engine.Inspect(t.Context(), r.Local)
	if err != nil || !found {
		t.Fatalf("image %s: %v", r.Local, err)
	}
	return im.ID
}

func (p pictures) Runtime(t *testing.T) operation.Runtime {
	t.Helper()
	r := newImages(&Image{builder: imagebuild.New(p.engine)}, Request{Log: logstore.Discard, Progress: func(string, string, model.BuildProgress) {}}, p.work,
		&steps{log: logstore.Discard, progress: func(string, string, model.BuildProgress) {}})
	r.built = p.refs
	return r
}
