package imagebuild

import (
	"path/filepath"
	"testing"

	"github.com/hone-dev/hone/pkg/model"
)

// TestNote notes the inputs of an image that another program builds, and foresees its next builds.
func TestNote(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	write(t, file, "one")
	b, engine := newTestBuilder(t)
	b.Remember(memoryOf(dir))
	engine.AddImage("busybox")
	req := Request{Target: model.ImageTarget{Ref: "shop-web", Docker: &model.DockerBuild{Context: dir, Contents: "FROM busybox\n", Options: "1"}}}
	foresee := func(when, want string) {
		t.Helper()
		p := New(engine).Remember(memoryOf(dir)).Foresee(t.Context(), req) // another process
		if p.Known != (want == "") || p.Reason() != want {
			t.Errorf("%s: %+v, want %q", when, p, want)
		}
	}
	b.Note(t.Context(), req)("")
	foresee("after a build that failed", "never built on this machine")
	end := b.Note(t.Context(), req)
	engine.AddImage("shop-web")
	end("shop-web")
	foresee("after a build", "")
	req.Target.Docker.Options = "2"
	foresee("with other settings", "its options changed")
	req.Target.Docker.Options = "1"
	write(t, file, "another")
	foresee("with another file", "main.go changed")
	end = b.Note(t.Context(), req)
	write(t, file, "a third one")
	end("shop-web")
	foresee("after a build during which a file changed", "main.go changed")
	write(t, file, "one")
	foresee("with the files of the build before", "")
	if err := engine.Remove(t.Context(), "shop-web"); err != nil {
		t.Fatal(err)
	}
	foresee("without its image", "its last image is gone")
}
