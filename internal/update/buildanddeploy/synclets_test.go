package buildanddeploy

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// shelf is an engine with images, the delivery to the cluster, and the experience with containers.
type shelf struct {
	programs map[string][]string // by reference
	path     string
	empty    bool  // no image can be inspected
	lost     error // why hone's image cannot be delivered
	locked   bool
	looks    int
}

func (s *shelf) Ping(context.Context) (docker.Info, error) { return docker.Info{}, nil }

func (s *shelf) Inspect(_ context.Context, of model.ImageResult, _ imagebuild.Plan) (docker.Image, bool, error) {
	if s.empty {
		return docker.Image{}, false, nil
	}
	im := docker.Image{ID: "sha256:1", Entrypoint: []string{"/" + of.Local}, Cmd: []string{"serve"}}
	if s.path != "" {
		im.Env = []string{"PATH=" + s.path}
	}
	return im, true, nil
}

func (s *shelf) Programs(_ context.Context, of model.ImageResult, _ imagebuild.Plan, paths []string) (found []string, err error) {
	s.looks++
	for _, have := range s.programs[of.Local] {
		for _, p := range paths {
			if p == have {
				found = append(found, p)
			}
		}
	}
	return found, nil
}

func (s *shelf) Deliver(_ context.Context, _ imagebuild.Plan, arch, beside string, _ logstore.Logger) (string, error) {
	return "synclet-" + arch + "-beside-" + beside, s.lost
}

func (*shelf) Name(_ imagebuild.Plan, arch, beside string) (string, error) {
	return "synclet-" + arch + "-beside-" + beside, nil
}

func (s *shelf) LockedOut(ref string) bool { return s.locked && ref == "web" }

// TestInjection checks which images' containers get the synclet, and why.
func TestInjection(t *testing.T) {
	syncs := model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/a", RemotePath: "/b"}}}
	restart := model.LiveUpdate{RestartProcess: &model.RestartProcess{}}
	known := model.ImageResult{Local: "web:1", Cluster: "web:1", ImageID: "sha256:1"}
	elsewhere := model.ImageResult{Local: "web:1", Cluster: "web:1"}
	command := &deploy.ImageCommand{Entrypoint: []string{"/web:1"}, Cmd: []string{"serve"}}
	for _, tt := range []struct {
		name   string
		steps  model.LiveUpdate
		result model.ImageResult
		shelf  shelf
		change func(*Request)
		want   *deploy.SyncletUse
		fails  string
		says   string
	}{
		{name: "no live update", result: known},
		{name: "nothing in it", steps: syncs, result: known, want: &deploy.SyncletUse{}, says: "neither sh nor tar"},
		{name: "a shell", steps: syncs, result: known, shelf: shelf{programs: map[string][]string{"web:1": {"/bin/sh"}}}},
		{name: "tar", steps: syncs, result: known, shelf: shelf{programs: map[string][]string{"web:1": {"/usr/bin/tar"}}}},
		{name: "a shell that nothing leads to", steps: syncs, result: known, want: &deploy.SyncletUse{}, says: "neither sh nor tar",
			shelf: shelf{programs: map[string][]string{"web:1": {"/bin/sh"}}, path: "/opt/bin:relative"}},
		{name: "a shell at an unusual place", steps: syncs, result: known,
			shelf: shelf{programs: map[string][]string{"web:1": {"/opt/bin/sh"}}, path: "/opt/bin:relative"}},
		{name: "the image cannot be inspected", steps: syncs, result: elsewhere, shelf: shelf{empty: true}},
		{name: "nothing in an image of another machine", steps: syncs, result: elsewhere, want: &deploy.SyncletUse{}, says: "neither sh nor tar"},
		{name: "restart with an image of another machine", steps: restart, result: elsewhere, want: &deploy.SyncletUse{Run: true, Command: command}},
		{name: "and its containers were closed", steps: syncs, result: elsewhere, shelf: shelf{empty: true, locked: true}, want: &deploy.SyncletUse{}, says: "no other way"},
		{name: "a shell that was of no use", steps: syncs, result: known, want: &deploy.SyncletUse{},
			shelf: shelf{programs: map[string][]string{"web:1": {"/bin/sh"}}, locked: true}},
		{name: "another mode", steps: syncs, result: known, change: func(r *Request) { r.Mode = model.UpdateExec }},
		{name: "restart", steps: restart, result: known, want: &deploy.SyncletUse{Run: true, Command: command}, says: "restarted in place"},
		{name: "restart with an image that is not here", steps: restart, result: elsewhere, shelf: shelf{empty: true}, want: &deploy.SyncletUse{Run: true}},
		{name: "restart in another mode", steps: restart, result: known, change: func(r *Request) { r.Mode = model.UpdateImage },
			want: &deploy.SyncletUse{Run: true, Command: command}},
		{name: "a command of the user deploys it", steps: restart, result: known, change: func(r *Request) {
			r.Manifest.K8s = &model.K8sTarget{CustomDeploy: &model.CustomDeploy{}}
		}},
		{name: "not delivered", steps: syncs, result: known, shelf: shelf{lost: errors.New("no registry")}, says: "WARNING: the synclet could not"},
		{name: "not delivered, but needed", steps: restart, result: known, shelf: shelf{lost: errors.New("no registry")}, fails: "no registry"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			here := NewEnvironment(&tt.shelf)
			here.known = &environment{}
			s := NewSynclets(&tt.shelf, &tt.shelf, &tt.shelf, here)
			d := &diary{}
			req := d.request(model.Manifest{Name: "shop", K8s: &model.K8sTarget{}, Images: []model.ImageTarget{{Ref: "web", LiveUpdate: tt.steps}}})
			req.Cluster = model.Cluster{Arch: "arm64"}
			if tt.change != nil {
				tt.change(&req)
			}
			for range 2 {
				got, err := s.Injection(t.Context(), req, map[string]model.ImageResult{"web": tt.result})
				if tt.fails == "" && err != nil || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
					t.Fatalf("error %v, want %q", err, tt.fails)
				}
				var want *deploy.SyncletInjection
				if tt.want != nil {
					want = &deploy.SyncletInjection{Image: "synclet-arm64-beside-web", Uses: map[string]deploy.SyncletUse{"web": *tt.want}}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			if tt.shelf.looks > 1 {
				t.Errorf("it inspected the same image %d times", tt.shelf.looks)
			}
			if !strings.Contains(d.text(), tt.says) {
				t.Errorf("the log lacks %q:\n%s", tt.says, d.text())
			}
		})
	}
}
