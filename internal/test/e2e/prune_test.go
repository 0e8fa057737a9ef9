package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild"
)

// prunable is a project of two images, whose names no other project has. Its settings keep one version of each.
var prunable = `
-- Tiltfile --
docker_prune_settings(disable=True, keep_recent=1)
docker_build('$NS-web', 'web')
docker_build('$NS-api', 'api')
k8s_yaml('all.yaml')
-- web/Dockerfile --
FROM busybox
COPY . /src
CMD ["sleep", "10000"]
-- web/version --
1 of $NS
-- api/Dockerfile --
FROM busybox
COPY . /src
CMD ["sleep", "10000"]
-- api/version --
1 of the api of $NS
-- all.yaml --
` + deployment("web", `{terminationGracePeriodSeconds: 0, containers: [{name: web, image: $NS-web}]}`) + `---
` + deployment("api", `{terminationGracePeriodSeconds: 0, containers: [{name: api, image: $NS-api}]}`)

// TestDockerPrune builds versions of two images and prunes one of them, on the engine: the old versions go, while the
// newest, the one that a session has deployed, the other image and all images that hone has not built stay. The test is
// limited to its own images, since the engine may be in use.
func TestDockerPrune(t *testing.T) {
	t.Parallel()
	p := newProject(t, prunable)
	engine := newEngine(t)
	web, api := p.namespace+"-web", p.namespace+"-api"
	// made returns the versions of an image, newest first, and other images with its label.
	made := func(ctx context.Context, name string) (versions, others []string) {
		t.Helper()
		images, err := engine.Images(ctx, imagebuild.Label)
		if err != nil {
			t.Fatal(err)
		}
		for _, im := range images {
			for _, tag := range im.Tags {
				switch {
				case im.Labels[imagebuild.Label] != name:
				case strings.Contains(tag, name+":hone-"):
					versions = append(versions, tag)
				default:
					others = append(others, tag)
				}
			}
		}
		return versions, others
	}
	t.Cleanup(func() {
		for _, name := range []string{web, api} {
			versions, others := made(context.Background(), name)
			for _, ref := range append(versions, others...) {
				if err := engine.Remove(context.Background(), ref); err != nil && !docker.IsNotFound(err) {
					t.Error(err)
				}
			}
		}
	})
	s := p.up()
	s.ready("web", "api")

	// A name of the user for the first version, and an image that is built on it and inherits its labels.
	first, _ := made(t.Context(), web)
	mine, derived := web+"-mine:1", web+"-derived:1"
	id, err := engine.Build(t.Context(), docker.BuildRequest{Contents: "FROM " + first[0] + "\nENV DERIVED=1\n"})
	if err != nil {
		t.Fatal(err)
	}
	for ref, of := range map[string]string{mine: first[0], derived: id} {
		if err := engine.Tag(t.Context(), of, ref); err != nil {
			t.Fatal(err)
		}
	}
	for n := 2; n <= 4; n++ {
		p.write("web/version", fmt.Sprintf("%d of $NS\n", n))
		s.builds("web", n)
	}
	p.write("api/version", "2 of the api of $NS\n")
	s.builds("api", 2)
	s.ready("web", "api")
	v, others := made(t.Context(), web)
	apis, _ := made(t.Context(), api)
	if len(v) != 4 || len(others) != 2 || len(apis) != 2 {
		t.Fatalf("built %v, %v and %v, want 4, 2 and 2 versions", v, others, apis)
	}
	stay := append([]string{mine, derived, "busybox:latest"}, apis...)

	prune := func(what string, args []string, gone ...string) {
		t.Helper()
		out, code := p.run(append([]string{"docker-prune", "--image", web}, args...)...)
		if code != 0 || strings.Count(out, "  removed ") != len(gone) {
			t.Errorf("%s: exit code %d, want %d removed:\n%s", what, code, len(gone), out)
		}
		for _, ref := range gone {
			if !strings.Contains(out, "  removed "+ref+"\n") {
				t.Errorf("%s: it does not say that %s was removed:\n%s", what, ref, out)
			}
		}
		v = slices.DeleteFunc(v, func(ref string) bool { return slices.Contains(gone, ref) })
		for _, ref := range gone {
			if _, found, err := engine.Inspect(t.Context(), ref); err != nil || found {
				t.Errorf("%s: %s is still there (%v)", what, ref, err)
			}
		}
		for _, ref := range append(slices.Clone(v), stay...) {
			if _, found, err := engine.Inspect(t.Context(), ref); err != nil || !found {
				t.Errorf("%s: %s is gone (%v)", what, ref, err)
			}
		}
	}
	prune("nothing is as old as the default", nil)
	prune("nothing is that old", []string{"--max-age", "1h", "--keep-recent", "0"})
	prune("all but the newest two", []string{"--max-age", "0s", "--keep-recent", "2"}, v[2], v[3])
	prune("all but the one of the settings", []string{"--max-age", "0s"}, v[1])
	prune("what is deployed", []string{"--max-age", "0s", "--keep-recent", "0"})
	s.stop()
	prune("unused images", []string{"--max-age", "0s", "--keep-recent", "0"}, v[0])
}
