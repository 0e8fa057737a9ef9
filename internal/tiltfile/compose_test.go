package tiltfile

import (
	"path/filepath"
	"testing"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// composeService evaluates a Tiltfile in a folder and returns the only service that it declares.
func composeService(t *testing.T, dir, tiltfile string) *model.ComposeTarget {
	t.Helper()
	writeFile(t, filepath.Join(dir, "Tiltfile"), []byte(tiltfile))
	res := Load(t.Context(), Options{Path: filepath.Join(dir, "Tiltfile"), Env: []string{"PATH=/bin"}})
	if res.Err != nil || len(res.Manifests) != 1 || !res.Manifests[0].IsCompose() {
		t.Fatalf("got %v, %v, want one service", res.Manifests, res.Err)
	}
	return res.Manifests[0].Compose
}

// TestComposeBuildHash checks that the hash of a service includes the Dockerfile if Compose builds the image, but not
// if hone does.
func TestComposeBuildHash(t *testing.T) {
	const own = "docker_compose('compose.yml', project_name='shop')\n"
	const replaced = own + "docker_build('shop-web', '.')\n"
	dir := t.TempDir()
	write := func(dockerfile, compose string) {
		writeFile(t, filepath.Join(dir, "Dockerfile"), []byte(dockerfile))
		writeFile(t, filepath.Join(dir, "compose.yml"), []byte(compose))
	}
	const compose = "services:\n  web:\n    build: {context: ., args: {A: \"1\"}}\n"
	write("FROM a\n", compose)
	built, other := composeService(t, dir, own).Hash, composeService(t, dir, replaced).Hash
	if again := composeService(t, dir, own).Hash; again != built {
		t.Error("the hash differs for the same files")
	}
	write("FROM b\n", compose)
	if composeService(t, dir, own).Hash == built {
		t.Error("another Dockerfile does not change the hash of a service that Compose builds")
	}
	if composeService(t, dir, replaced).Hash != other {
		t.Error("another Dockerfile changes the hash of a service that hone builds")
	}
	write("FROM a\n", "services:\n  web:\n    build: {context: ., args: {A: \"2\"}}\n")
	if composeService(t, dir, own).Hash == built {
		t.Error("another build arg does not change the hash of a service that Compose builds")
	}
	if composeService(t, dir, replaced).Hash != other {
		t.Error("an unused build arg changes the hash of a service that hone builds")
	}
}

// FuzzCompose reads any text as the Compose file of a Tiltfile: the result is resources, or an error at the call.
func FuzzCompose(f *testing.F) {
	f.Add("services: {web: {image: a, ports: [\"1:1\"], depends_on: [db]}, db: {build: .}}")
	f.Add("services: {\"(Tiltfile)\": {image: a}}")
	f.Add("services: [")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "c.yml"), []byte(text))
		writeFile(t, filepath.Join(dir, "Tiltfile"), []byte("docker_compose('c.yml', project_name='p')\n"))
		res := Load(t.Context(), Options{Path: filepath.Join(dir, "Tiltfile"), Env: []string{"HOME=" + dir}})
		if res.Err != nil {
			e, ok := res.Err.(*fault.Error) //nolint:errorlint // Err itself must have the place
			if !ok || e.Line != 1 || e.Msg == "" {
				t.Fatalf("%q gave %#v", text, res.Err)
			}
			return
		}
		for _, m := range res.Manifests {
			if m.Name == "" || !m.IsCompose() || len(m.Compose.Hash) != 64 {
				t.Fatalf("%q gave %+v", text, m)
			}
		}
	})
}
