package containerd

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// TestReceive takes in images, of which containerd has some blobs. The image that pods find is the one that Import makes.
func TestReceive(t *testing.T) {
	const full = "docker.io/library/api:hone-1"
	config, base, app := `{"rootfs":{}}`, "\x1f\x8b"+strings.Repeat("base", chunk), "\x1f\x8bapp"
	m := ocispec.Manifest{Config: descriptor("application/vnd.docker.container.image.v1+json", "sha256:"+digestOf(config), int64(len(config)))}
	m.SchemaVersion = 2
	for _, layer := range []string{base, app} {
		m.Layers = append(m.Layers, descriptor("application/vnd.docker.image.rootfs.diff.tar.gzip", "sha256:"+digestOf(layer), int64(len(layer))))
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	manifest := string(raw)
	for _, tt := range []struct {
		name string
		has  []string // before
		lost string   // after all were taken in
		bad  bool     // the large layer has other bytes
	}{
		{name: "new"},
		{name: "base is there", has: []string{base}},
		{name: "all is there", has: []string{config, base, app, manifest}},
		{name: "layer is lost", lost: base},
		{name: "manifest is lost", lost: manifest},
		{name: "wrong bytes", bad: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, c := start(t)
			for _, blob := range tt.has {
				s.blobs["sha256:"+digestOf(blob)] = []byte(blob)
			}
			in := c.Receive()
			want := 0
			for _, blob := range []string{config, base, app, manifest} {
				digest := "sha256:" + digestOf(blob)
				to, err := in.Receive(t.Context(), digest, int64(len(blob)))
				if there := slices.Contains(tt.has, blob); errors.Is(err, fs.ErrExist) != there || (err == nil) == there {
					t.Fatalf("receive %s: %v", digest, err)
				}
				if err != nil {
					continue
				}
				want += len(blob)
				bad := tt.bad && blob == base
				if bad {
					blob = strings.ReplaceAll(blob, "base", "BASE")
				}
				if _, err := to.Write([]byte(blob)); err != nil {
					t.Fatal(err)
				}
				if err := to.Commit(); (err != nil) != bad {
					t.Errorf("commit: %v", err)
				}
				if err := to.Close(); err != nil {
					t.Error(err)
				}
			}
			if (in.Err() != nil) != tt.bad {
				t.Errorf("containerd's error: %v", in.Err())
			}
			if s.wrote != want || s.leases != 1 {
				t.Errorf("%d bytes were sent, want %d, under %d leases", s.wrote, want, s.leases)
			}
			delete(s.blobs, "sha256:"+digestOf(tt.lost))
			err := in.Name(t.Context(), "sha256:"+digestOf(manifest), func(id string) (string, error) {
				if id != m.Config.Digest.String() {
					t.Errorf("the image is %s", id)
				}
				return full, nil
			})
			in.Close()
			if s.leases != 0 {
				t.Errorf("%d leases are left", s.leases)
			}
			if whole := tt.lost == "" && !tt.bad; errors.Is(err, ErrLost) == whole || (err == nil) != whole {
				t.Fatalf("name: %v", err)
			}
			if err != nil {
				return
			}
			imported, c2 := start(t)
			files := []file{{"blobs/sha256/" + digestOf(config), config, ""}, {"blobs/sha256/" + digestOf(base), base, ""}, {"blobs/sha256/" + digestOf(app), app, ""},
				{"manifest.json", `[{"Config":"blobs/sha256/` + digestOf(config) + `","Layers":["blobs/sha256/` + digestOf(base) + `","blobs/sha256/` + digestOf(app) + `"]}]`, ""}}
			if err := c2.Import(t.Context(), archive(t, files...), full); err != nil {
				t.Fatal(err)
			}
			if got, want := s.names[full].Target.Digest, imported.names[full].Target.Digest; got != want {
				t.Errorf("the manifest is %s, and Import makes %s", got, want)
			}
			for _, part := range []string{config, base, app} {
				if !slices.Contains(s.protected, "sha256:"+digestOf(part)) {
					t.Errorf("%s is not protected", digestOf(part))
				}
			}
		})
	}
}

// TestReceiveWithoutContainerd: the first error is kept, since the sender sees only its own.
func TestReceiveWithoutContainerd(t *testing.T) {
	c, err := Dial(filepath.Join(t.TempDir(), "none.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := c.Receive()
	defer in.Close()
	if _, err := in.Receive(t.Context(), "sha256:1", 1); err == nil || in.Err() == nil || !strings.Contains(in.Err().Error(), "import an image") {
		t.Errorf("got %v, %v", err, in.Err())
	}
}
