package imagebuild

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// layered is an instruction of a Dockerfile, and the files that it made, by path.
type layered struct {
	by    string
	files map[string]string
}

// contentsOf returns the content of an image with layers.
func contentsOf(t *testing.T, env string, layers ...layered) imageContents {
	t.Helper()
	im := empty.Image
	for _, l := range layers {
		var raw bytes.Buffer
		w := tar.NewWriter(&raw)
		for path, text := range l.files {
			if err := w.WriteHeader(&tar.Header{Name: path, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, text); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw.Bytes())), nil })
		if err != nil {
			t.Fatal(err)
		}
		im, err = mutate.Append(im, mutate.Addendum{Layer: layer, History: v1.History{CreatedBy: l.by}}, mutate.Addendum{History: v1.History{CreatedBy: "USER 1", EmptyLayer: true}})
		if err != nil {
			t.Fatal(err)
		}
	}
	im, err := mutate.Config(im, v1.Config{Env: []string{env}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := readContents(im)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestUnlike compares two images of the same inputs, and says why files differ.
func TestUnlike(t *testing.T) {
	base := layered{"ADD rootfs", map[string]string{"bin/sh": "shell", "etc/hosts": "all", "tmp/a": "1"}}
	image := func(by string, files map[string]string) []layered { return []layered{base, {by, files}} }
	type files = map[string]string
	for _, tc := range []struct {
		name          string
		before, after []layered
		want          []string
	}{
		{"the same", image("COPY . .", files{"a": "1"}), image("COPY . .", files{"a": "1"}), nil},
		{"the same in other layers", image("COPY . .", files{"a": "1"}), append(image("COPY . .", files{"a": "2"}), layered{"RUN fix", files{"a": "1"}}), nil},
		{"a time", image("RUN |1 TOKEN=secret /bin/sh -c date > /stamp # buildkit", files{"stamp": "10:15:00"}), image("|1 TOKEN=secret /bin/sh -c date > /stamp", files{"stamp": "10:16:59"}),
			[]string{"/stamp: a time stamp or another number: RUN date > /stamp"}},
		{"a package", image("/bin/sh -c apk add curl", files{"usr/bin/curl": "one"}), image("RUN apk add curl", files{"usr/bin/curl": "twelve", "lib/new.so": ""}),
			[]string{"/lib/new.so: an unpinned package or download: RUN apk add curl", "/usr/bin/curl: an unpinned package or download: RUN apk add curl"}},
		{"a generated file", image("RUN |1 TOKEN=secret ./generate", files{"out/x": "abc"}), image("RUN |1 TOKEN=secret ./generate", files{"out/x": "xyz"}), []string{"/out/x: a generated file: RUN …"}},
		{"a compiled file", image("RUN python -m compileall /app", files{"app/x.pyc": "abc"}), image("RUN python -m compileall /app", files{"app/x.pyc": "xyz"}),
			[]string{"/app/x.pyc: it holds the time of its source: RUN python -m compileall /app"}},
		{"a file that goes", image("RUN rm /etc/hosts", files{"etc/.wh.hosts": ""}), image("RUN rm /etc/hosts", files{}), []string{"/etc/hosts: not known: ADD rootfs"}},
		{"a folder that goes", image("RUN rm", files{"tmp/.wh..wh..opq": ""}), image("RUN rm", files{"tmp/.wh.a": ""}), nil},
		{"an unknown cause", image("COPY . .", files{"a": "abc"}), image("COPY . .", files{"a": "xyz"}), []string{"/a: not known: COPY . ."}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before, after := contentsOf(t, "A=1", tc.before...), contentsOf(t, "A=1", tc.after...)
			var got []string
			for _, p := range before.unlike(after) {
				got = append(got, fmt.Sprintf("%s: %s", p, cause(p, before, after)))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if before.config != after.config || before.config == contentsOf(t, "A=2", tc.after...).config {
				t.Errorf("the configurations are %s and %s", before.config, after.config)
			}
		})
	}
}
