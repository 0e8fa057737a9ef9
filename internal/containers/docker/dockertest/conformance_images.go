package dockertest

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/containers/docker"
)

func testImages(t *testing.T, s Subject) {
	id := MustBuild(t, s.Client, docker.BuildRequest{Contents: "FROM scratch\nLABEL test=images-" + Run + "\n", Tags: []string{"hone-test-images:a-" + Run}})
	if err := s.Client.Tag(t.Context(), id, "hone-test-images:b-"+Run); err != nil {
		t.Fatal(err)
	}
	im, found, err := s.Client.Inspect(t.Context(), "hone-test-images:b-"+Run)
	if err != nil || !found || im.ID != id {
		t.Fatalf("got %+v, %v, %v", im, found, err)
	}
	for _, want := range []string{"hone-test-images:a-" + Run, "hone-test-images:b-" + Run} {
		if !strings.Contains(strings.Join(im.Tags, " "), want) {
			t.Errorf("tags %v lack %s", im.Tags, want)
		}
	}
	if im.OS != "linux" || im.Arch == "" {
		t.Errorf("platform %s/%s", im.OS, im.Arch)
	}
	if _, found, err := s.Client.Inspect(t.Context(), "hone-test-no-such-image"); found || err != nil {
		t.Errorf("unknown image: %v, %v", found, err)
	}
	if err := s.Client.Tag(t.Context(), "hone-test-no-such-image", "hone-test-images:c"); !docker.IsNotFound(err) {
		t.Errorf("tag of unknown image: %v", err)
	}
}

func testRemove(t *testing.T, s Subject) {
	label := "dev.hone.test." + Run + "." + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "."))
	before := time.Now().Add(-time.Minute)
	id := MustBuild(t, s.Client, docker.BuildRequest{Contents: "FROM scratch\nLABEL test=remove-" + Run + "\n",
		Labels: map[string]string{label: "x"}, Tags: []string{"hone-test-remove:a-" + Run, "hone-test-remove:b-" + Run}})
	got, err := s.Client.Images(t.Context(), label)
	if err != nil || len(got) != 1 || got[0].ID != id || got[0].Labels[label] != "x" || got[0].TaggedAt.Before(before) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if err := s.Client.Remove(t.Context(), "hone-test-remove:a-"+Run); err != nil {
		t.Fatal(err)
	}
	if im, found, err := s.Client.Inspect(t.Context(), id); err != nil || !found || !cmp.Equal(im.Tags, []string{"hone-test-remove:b-" + Run}) {
		t.Errorf("after one: %+v, %v, %v", im, found, err)
	}
	if err := s.Client.Remove(t.Context(), "hone-test-remove:b-"+Run); err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.Client.Inspect(t.Context(), id); found || err != nil {
		t.Errorf("after both: %v, %v", found, err)
	}
	if err := s.Client.Remove(t.Context(), "hone-test-remove:a-"+Run); !docker.IsNotFound(err) {
		t.Errorf("what is gone: %v", err)
	}
}

func testSave(t *testing.T, s Subject) {
	rc, err := s.Client.Save(t.Context(), []string{"busybox:latest"})
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	var manifest []struct{ RepoTags []string }
	r := tar.NewReader(rc)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Name == "manifest.json" {
			if err := json.NewDecoder(r).Decode(&manifest); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(manifest) != 1 || !cmp.Equal(manifest[0].RepoTags, []string{"busybox:latest"}) {
		t.Errorf("manifest %+v", manifest)
	}
}

// testLoad saves an image, removes it and loads it again.
func testLoad(t *testing.T, s Subject) {
	tag := "hone-test-load:a-" + Run
	id := MustBuild(t, s.Client, docker.BuildRequest{Context: WriteTree(t, map[string]string{"a": "x"}), Tags: []string{tag},
		Contents: "FROM scratch\nLABEL test=load-" + Run + "\nCOPY a /a\n"})
	rc, err := s.Client.Save(t.Context(), []string{tag})
	if err != nil {
		t.Fatal(err)
	}
	archive, err := io.ReadAll(rc)
	if err = errors.Join(err, rc.Close()); err != nil {
		t.Fatal(err)
	}
	if err := s.Client.Remove(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	if err := s.Client.Load(t.Context(), bytes.NewReader(archive)); err != nil {
		t.Fatal(err)
	}
	if im, found, err := s.Client.Inspect(t.Context(), tag); err != nil || !found || im.ID != id {
		t.Errorf("got %+v, %v, %v", im, found, err)
	}
	if err := s.Client.Load(t.Context(), strings.NewReader("no archive")); err == nil {
		t.Error("loaded what is no archive")
	}
}

func testPrograms(t *testing.T, s Subject) {
	dir := WriteTree(t, map[string]string{"data": "x"})
	paths := []string{"/bin/sh", "/bin/tar", "/usr/bin/nope", "/data", "/bin", "/nowhere/at/all"}
	for _, tt := range []struct {
		contents string
		want     []string
	}{
		{"FROM busybox\nLABEL test=programs-" + Run + "\nCOPY data /data\n", []string{"/bin/sh", "/bin/tar"}},
		{"FROM scratch\nLABEL test=programs-" + Run + "\nCOPY data /data\n", nil},
	} {
		id := MustBuild(t, s.Client, docker.BuildRequest{Context: dir, Contents: tt.contents})
		got, err := s.Client.Programs(t.Context(), id, paths)
		if err != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("%q: got %q, %v", tt.contents, got, err)
		}
	}
	if _, err := s.Client.Programs(t.Context(), "hone-test-no-such-image", paths); !docker.IsNotFound(err) {
		t.Errorf("unknown image: %v", err)
	}
}

func testPushUnknown(t *testing.T, s Subject) {
	if err := s.Client.Push(t.Context(), "localhost:5000/hone-test-no-such-image:1", nil, nil); err == nil {
		t.Error("pushed what does not exist")
	}
}
