package imagebuild

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
)

// TestNodeDigest finds the manifest of an image in a node, behind an index, too, which need not say its type.
func TestNodeDigest(t *testing.T) {
	const full = "docker.io/library/api:1"
	top, below := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	for name, tt := range map[string]struct{ listed, content, want string }{
		"manifest":             {full, `{"mediaType":"application/vnd.oci.image.manifest.v1+json","layers":[]}`, top},
		"index":                {full, `{"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"digest":"` + below + `"}]}`, below},
		"index without a type": {full, `{"schemaVersion":2,"manifests":[{"digest":"` + below + `"}]}`, below},
		"another name":         {full + "0", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			engine := dockertest.New()
			engine.AddContainer("n1", dockertest.Container{Name: "n1", Exec: func(_ context.Context, argv []string, _ io.Reader, out io.Writer) int {
				if strings.Join(argv[:5], " ") == "ctr -n k8s.io images ls" {
					fmt.Fprintf(out, "REF TYPE DIGEST\n%s type %s\n", tt.listed, top)
				} else {
					fmt.Fprint(out, tt.content)
				}
				return 0
			}})
			got, err := nodeContainer{engine, docker.Container{ID: "n1", Name: "n1"}}.digest(t.Context(), full)
			if got != tt.want || (tt.want == "") != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
