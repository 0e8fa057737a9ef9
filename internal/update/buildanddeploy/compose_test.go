package buildanddeploy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/containers/compose/composetest"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// shop is a project with a service of each kind, on a fake engine.
type shop struct {
	*diary
	t       *testing.T
	engine  *dockertest.Fake
	runner  *composetest.Fake
	builder *Compose
	project model.ComposeProject
}

func newShop(t *testing.T) *shop {
	dir := t.TempDir()
	text := "services:\n  web: {image: web}\n  db: {image: busybox}\n  made: {build: .}\n"
	if err := os.WriteFile(filepath.Join(dir, "compose.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &shop{diary: &diary{}, t: t, engine: dockertest.New()}
	s.runner = composetest.New(s.engine)
	s.builder = NewCompose(s.runner, imagebuild.New(s.engine), s.engine)
	s.project = model.ComposeProject{Name: "shop", Dir: dir, Files: []model.ComposeFile{{Path: filepath.Join(dir, "compose.yml")}}}
	return s
}

func (s *shop) service(name string) model.Manifest {
	return model.Manifest{Name: model.ManifestName(name), Compose: &model.ComposeTarget{Project: s.project, Service: name, Image: name}}
}

// web is a service whose image hone builds.
func (s *shop) web(steps model.LiveUpdate) model.Manifest {
	m := s.service("web")
	m.Compose.ImageTarget = "web"
	m.Images = []model.ImageTarget{{Ref: "web", LiveUpdate: steps,
		Docker: &model.DockerBuild{Context: s.project.Dir, Contents: "FROM busybox\n"}}}
	return m
}

func (s *shop) update(m model.Manifest, prior map[string]model.ImageResult) Result {
	s.t.Helper()
	req := s.request(m)
	req.Results = prior
	r, err := s.builder.BuildAndDeploy(s.t.Context(), req)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *shop) last() compose.Up {
	ups := s.runner.Ups()
	return ups[len(ups)-1]
}

func TestComposeStartsServices(t *testing.T) {
	s := newShop(t)
	r := s.update(s.service("db"), nil)
	if !r.Deployed || len(r.Applied) != 1 || r.Applied[0].UID == "" || r.Applied[0].TemplateHash != r.Applied[0].UID {
		t.Errorf("result: %+v", r)
	}
	if up := s.last(); up.Image != "" || up.Entrypoint != nil || up.NoStart || up.Recreate {
		t.Errorf("a service whose image is not hone's is not started as in the files: %+v", up)
	}
	m := s.service("made")
	m.Compose.Build = &model.ComposeBuild{Context: s.project.Dir}
	s.update(m, nil)
	req := s.request(m)
	req.NoCache, req.Force = true, true
	if _, err := s.builder.BuildAndDeploy(t.Context(), req); err != nil {
		t.Error(err)
	}
	if got := s.runner.Builds(); !slices.Equal(got, []compose.Build{{Service: "made"}, {Service: "made", NoCache: true}}) || !s.last().Recreate {
		t.Errorf("Compose has built %v and started %+v", got, s.last())
	}
	if _, err := s.builder.BuildAndDeploy(t.Context(), s.request(model.Manifest{Name: "x"})); !errors.As(err, new(*Declined)) {
		t.Errorf("not a service: %v", err)
	}
}

// TestForecastOfComposeBuild builds the image of a service with Compose, and foresees the next build.
func TestForecastOfComposeBuild(t *testing.T) {
	s := newShop(t)
	images := imagebuild.New(s.engine).Remember(imagebuild.NewMemory(t.TempDir()))
	s.builder = NewCompose(s.runner, images, s.engine)
	m := s.service("made")
	m.Compose.Build = &model.ComposeBuild{Context: s.project.Dir, Inline: "FROM scratch\nCOPY . .\n"}
	reasons := func() (out []string) {
		t.Helper()
		f, err := NewImage(nil, images, nil, nil, nil).Forecast(t.Context(), s.request(m))
		if err != nil {
			t.Fatal(err)
		}
		for _, im := range f.Plan {
			out = append(out, im.Image+": "+im.Reason)
		}
		return out
	}
	if got := reasons(); !slices.Equal(got, []string{"made: never built on this machine"}) {
		t.Errorf("before the first build: %q", got)
	}
	s.engine.AddImage("made")
	s.update(m, nil)
	if got := reasons(); len(got) > 0 {
		t.Errorf("after it: %q", got)
	}
	m.Compose.Build.Target = "other"
	if got := reasons(); !slices.Equal(got, []string{"made: its target changed"}) {
		t.Errorf("with another target: %q", got)
	}
	m.Compose.Build.Contexts = []string{t.TempDir()}
	if got := reasons(); len(got) > 0 {
		t.Errorf("with a context that is not compared: %q", got)
	}
}

func TestComposeBuildsImages(t *testing.T) {
	s := newShop(t)
	m := s.web(model.LiveUpdate{})
	r := s.update(m, nil)
	im := r.Images["web"]
	if up := s.last(); im.Local == "" || up.Image != im.Local || im.Cluster != up.Image {
		t.Errorf("image %+v, started %+v", im, up)
	}
	if got, found, err := s.engine.Inspect(t.Context(), "web"); err != nil || !found || got.ID != im.ImageID {
		t.Errorf("the image's name in the service: %+v, %v, %v", got, found, err)
	}
	if len(s.engine.Pushed()) > 0 {
		t.Errorf("pushed: %v", s.engine.Pushed())
	}
	again := s.update(m, r.Images)
	if len(again.Images) > 0 || again.Applied[0].UID != r.Applied[0].UID {
		t.Errorf("nothing has changed: %+v, then %+v", r, again)
	}
	req := s.request(m)
	req.Results, req.Force = r.Images, true
	if _, err := s.builder.BuildAndDeploy(t.Context(), req); err != nil || !s.last().Recreate {
		t.Errorf("a trigger: %+v, %v", s.last(), err)
	}
}

// TestComposeLeavesNoOldFiles recreates a container that live updates of an earlier session have changed, only in the
// first update of a session.
func TestComposeLeavesNoOldFiles(t *testing.T) {
	s := newShop(t)
	m := s.web(model.LiveUpdate{Syncs: []model.Sync{{LocalPath: s.project.Dir, RemotePath: "/app/"}}, RestartContainer: true})
	change := func(r Result, file string) {
		s.engine.ChangeContainer(r.Applied[0].UID, func(c *dockertest.Container) { c.Changed = append(c.Changed, file) })
	}
	s.builder.engine = serving{s.engine}
	first := s.update(m, nil)
	change(first, "/application")
	again := s.update(m, nil)
	if again.Applied[0].UID != first.Applied[0].UID {
		t.Error("a container was replaced that no live update has changed")
	}
	change(again, "/app/main.py")
	if r := s.update(m, first.Images); r.Applied[0].UID != first.Applied[0].UID {
		t.Error("a container was replaced by an update of the session that has changed it")
	}
	if r := s.update(m, nil); r.Applied[0].UID == first.Applied[0].UID {
		t.Error("a container with old files was kept")
	}
}

// TestComposeSupervises puts the process of a service under the synclet only if live updates restart it.
func TestComposeSupervises(t *testing.T) {
	for _, c := range []struct {
		name                 string
		restart, refuse      bool
		entrypoint, command  []string // the service's
		wantEntry, wantWords []string
	}{
		{name: "no restart"},
		{name: "the image's command", restart: true, wantEntry: []string{"/serve"}, wantWords: []string{"--all"}},
		{name: "a command of its own", restart: true, command: []string{"x"}, wantEntry: []string{"/serve"}, wantWords: []string{"x"}},
		{name: "an entrypoint of its own", restart: true, entrypoint: []string{"y"}, wantEntry: []string{"y"}},
		{name: "no entrypoint", restart: true, entrypoint: []string{}, wantEntry: []string{}, wantWords: []string{"--all"}},
		{name: "the program does not get in", restart: true, refuse: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t)
			s.builder.engine = serving{s.engine}
			if c.refuse {
				s.engine.Fail("CopyTo", errors.New("container rootfs is marked read-only"))
			}
			m := s.web(model.LiveUpdate{Syncs: []model.Sync{{LocalPath: s.project.Dir, RemotePath: "/x"}}, RestartContainer: c.restart})
			m.Compose.Entrypoint, m.Compose.Command = c.entrypoint, c.command
			r := s.update(m, nil)
			container, _ := s.engine.Container(r.Applied[0].UID)
			_, has := container.Files[protocol.Path]
			up := s.last()
			if c.wantEntry == nil {
				if has || up.Entrypoint != nil {
					t.Errorf("the process is supervised: %+v", up)
				}
				if c.refuse != strings.Contains(s.text(), "will restart the whole container") {
					t.Errorf("log:\n%s", s.text())
				}
				return
			}
			want := slices.Concat([]string{protocol.Path, "run", "--"}, c.wantEntry)
			if !has || !slices.Equal(up.Entrypoint, want) || !slices.Equal(up.Command, c.wantWords) {
				t.Errorf("the program is there: %v; started %+v, want %v %v", has, up, want, c.wantWords)
			}
			if ups := s.runner.Ups(); len(ups) != 2 || !ups[0].NoStart || ups[1].NoStart {
				t.Errorf("the container did not get the program before its start: %+v", ups)
			}
		})
	}
}

// serving is an engine whose images run /serve --all.
type serving struct{ *dockertest.Fake }

func (s serving) Inspect(ctx context.Context, ref string) (docker.Image, bool, error) {
	im, found, err := s.Fake.Inspect(ctx, ref)
	im.Entrypoint, im.Cmd = []string{"/serve"}, []string{"--all"}
	return im, found, err
}

// TestComposeOrder checks which builders are tried for a service in each mode, and that the last one is Compose.
func TestComposeOrder(t *testing.T) {
	for mode, want := range map[model.UpdateMode]string{
		model.UpdateAuto: "synclet container exec compose", model.UpdateSynclet: "synclet compose", model.UpdateContainer: "container compose",
		model.UpdateExec: "exec compose", model.UpdateImage: "compose", model.UpdateNaive: "compose",
	} {
		d := &diary{}
		failing := func(name string) way { return way{name: name, d: d, err: errInfra} }
		chain := NewComposite(failing("synclet"), failing("container"), failing("exec"), way{name: "compose", d: d}, failing("image"))
		chain.Examine(func(context.Context, []model.LackingContainer, bool) error {
			return &Gone{Reason: "no pod of that name"}
		})
		req := d.request(model.Manifest{Name: "web", Compose: &model.ComposeTarget{Service: "web"}})
		req.Mode = mode
		if _, err := chain.BuildAndDeploy(t.Context(), req); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		var tried []string
		for _, line := range strings.Split(d.text(), "\n") {
			if name, ok := strings.CutPrefix(line, "try "); ok {
				tried = append(tried, name)
			}
		}
		if got := strings.Join(tried, " "); got != want {
			t.Errorf("%s: tried %s, want %s", mode, got, want)
		}
	}
}
