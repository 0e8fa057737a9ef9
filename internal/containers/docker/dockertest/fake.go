package dockertest

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
)

// Fake is an engine in memory for tests. It builds images whose ids depend on their input, and runs the few commands
// that tests need (see Container). Construct it with New.
type Fake struct {
	// OnBuild, if set before use, replaces the fake's build.
	OnBuild func(ctx context.Context, req docker.BuildRequest) (string, error)
	// OnPush, if set before use, is called for each push of an existing image.
	OnPush func(ctx context.Context, ref string) error
	// OnPull, if set before use, returns the id of an image that a registry has; without it, registries have none.
	OnPull func(ctx context.Context, ref string) (id string, err error)

	mu         sync.Mutex
	info       docker.Info
	images     map[string]docker.Image // by id
	tags       map[string]string       // full reference → id
	bare       map[string]bool         // images without any program, by id
	containers map[string]*Container
	changed    chan struct{} // closed and replaced when a container changes
	life       int           // counts interruptions
	failures   map[string][]error
	builds     []docker.BuildRequest
	pushed     []string
}

var _ docker.Client = (*Fake)(nil)

// New returns an engine on Linux with BuildKit and the image "busybox".
func New() *Fake {
	f := &Fake{
		info: docker.Info{Version: "20.10.24", APIVersion: "1.41", OS: "linux", Arch: "amd64", BuildKit: true,
			Host: "unix:///var/run/docker.sock", Name: "fake", Product: "Fake Linux"},
		images: map[string]docker.Image{}, tags: map[string]string{}, bare: map[string]bool{}, containers: map[string]*Container{},
		failures: map[string][]error{}, changed: make(chan struct{}),
	}
	f.AddImage("busybox")
	return f
}

// SetInfo replaces the result of Ping.
func (f *Fake) SetInfo(info docker.Info) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.info = info
}

// AddImage adds an image with the reference to the engine and returns its id.
func (f *Fake) AddImage(ref string) string {
	id := digestOf("image", ref)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.images[id] = docker.Image{ID: id, OS: f.info.OS, Arch: f.info.Arch, TaggedAt: time.Now()}
	f.tags[fullRef(ref)] = id
	return id
}

// RemoveImage removes the image with the reference or id, and all its references.
func (f *Fake) RemoveImage(ref string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, _ := f.lookup(ref)
	delete(f.images, id)
	maps.DeleteFunc(f.tags, func(_, v string) bool { return v == id })
}

// SetDigests makes registries have an image by the references.
func (f *Fake) SetDigests(ref string, digests ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id, ok := f.lookup(ref); ok {
		im := f.images[id]
		im.Digests = digests
		f.images[id] = im
	}
}

// SetTaggedAt changes the time at which the image last got a reference.
func (f *Fake) SetTaggedAt(ref string, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id, ok := f.lookup(ref); ok {
		im := f.images[id]
		im.TaggedAt = at
		f.images[id] = im
	}
}

// Fail makes the next call of the method ("Build", "Push" …) return err.
func (f *Fake) Fail(method string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures[method] = append(f.failures[method], err)
}

// Unreachable returns the error of an engine that cannot be reached, for use with Fail.
func (f *Fake) Unreachable() error {
	return docker.Unreachable("unix:///var/run/docker.sock", "", errors.New("connection refused"))
}

// Builds returns the requests so far, in order.
func (f *Fake) Builds() []docker.BuildRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.builds)
}

// Pushed returns the references pushed so far, in order.
func (f *Fake) Pushed() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.pushed)
}

// begin returns ctx's error, or the next failure that Fail has set for the method.
func (f *Fake) begin(ctx context.Context, method string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if waiting := f.failures[method]; len(waiting) > 0 {
		f.failures[method] = waiting[1:]
		return waiting[0]
	}
	return nil
}

// Ping implements Client.
func (f *Fake) Ping(ctx context.Context) (docker.Info, error) {
	if err := f.begin(ctx, "Ping"); err != nil {
		return docker.Info{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.info, nil
}

// Alive implements Client.
func (f *Fake) Alive(ctx context.Context) error { return f.begin(ctx, "Alive") }

// Tag implements Client.
func (f *Fake) Tag(ctx context.Context, src, dst string) error {
	if err := f.begin(ctx, "Tag"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	id, ok := f.lookup(src)
	if !ok {
		return fmt.Errorf("tag %s: no such image: %s: %w", dst, src, cerrdefs.ErrNotFound)
	}
	full := fullRef(dst)
	if full == "" {
		return fmt.Errorf("tag %s: invalid reference: %w", dst, cerrdefs.ErrInvalidArgument)
	}
	f.tags[full] = id
	im := f.images[id]
	im.TaggedAt = time.Now()
	f.images[id] = im
	return nil
}

// Inspect implements Client.
func (f *Fake) Inspect(ctx context.Context, ref string) (docker.Image, bool, error) {
	if err := f.begin(ctx, "Inspect"); err != nil {
		return docker.Image{}, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	id, ok := f.lookup(ref)
	if !ok {
		return docker.Image{}, false, nil
	}
	return f.image(id), true, nil
}

// image returns the image with its references filled in. The caller holds mu.
func (f *Fake) image(id string) docker.Image {
	im := f.images[id]
	for full, of := range f.tags {
		if named, err := reference.ParseNormalizedNamed(full); err == nil && of == id {
			im.Tags = append(im.Tags, reference.FamiliarString(named))
		}
	}
	slices.Sort(im.Tags)
	return im
}

// Images implements Client.
func (f *Fake) Images(ctx context.Context, label string) ([]docker.Image, error) {
	if err := f.begin(ctx, "Images"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []docker.Image
	for id, im := range f.images {
		if _, ok := im.Labels[label]; ok {
			out = append(out, f.image(id))
		}
	}
	slices.SortStableFunc(out, func(a, b docker.Image) int { return b.TaggedAt.Compare(a.TaggedAt) })
	return out, nil
}

// Remove implements Client. An image counts as used by the containers whose Image is one of its references.
func (f *Fake) Remove(ctx context.Context, ref string) error {
	if err := f.begin(ctx, "Remove"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	id, ok := f.lookup(ref)
	if !ok {
		return fmt.Errorf("remove image %s: no such image: %w", ref, cerrdefs.ErrNotFound)
	}
	tags := f.image(id).Tags
	last := len(tags) <= 1
	for _, c := range f.containers {
		if last && slices.ContainsFunc(append(tags, id), func(t string) bool { return fullRef(t) == fullRef(c.Image) }) {
			return fmt.Errorf("remove image %s: a container uses it: %w", ref, cerrdefs.ErrConflict)
		}
	}
	delete(f.tags, fullRef(ref))
	if last {
		delete(f.images, id)
	}
	return nil
}

// lookup finds an image by id or reference. The caller holds mu.
func (f *Fake) lookup(ref string) (string, bool) {
	if _, ok := f.images[ref]; ok {
		return ref, true
	}
	id, ok := f.tags[fullRef(ref)]
	return id, ok
}

// Push implements Client.
func (f *Fake) Push(ctx context.Context, ref string, _ logstore.Logger, sent func(percent int)) error {
	if err := f.begin(ctx, "Push"); err != nil {
		return err
	}
	f.mu.Lock()
	_, ok := f.lookup(ref)
	f.mu.Unlock()
	if !ok {
		return fmt.Errorf("push %s: the image does not exist locally", ref)
	}
	if f.OnPush != nil {
		if err := f.OnPush(ctx, ref); err != nil {
			return problem.Wrap(err, "cannot push "+ref, "check that the registry is up")
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pushed = append(f.pushed, ref)
	if sent != nil {
		sent(100)
	}
	return nil
}

// Pull implements Client.
func (f *Fake) Pull(ctx context.Context, ref, platform string, _ logstore.Logger) error {
	if err := f.begin(ctx, "Pull"); err != nil {
		return err
	}
	if f.OnPull == nil {
		return fmt.Errorf("pull %s: the registry does not have it", ref)
	}
	id, err := f.OnPull(ctx, ref)
	if err != nil {
		return err
	}
	f.keep(id, docker.BuildRequest{Platform: platform, Tags: []string{ref}})
	return nil
}

// PushHere implements Client.
func (f *Fake) PushHere(ctx context.Context, ref, _ string) error {
	return f.Push(ctx, ref, logstore.Discard, nil)
}

// Save implements Client. The archive holds a manifest and no layers.
func (f *Fake) Save(ctx context.Context, refs []string) (io.ReadCloser, error) {
	if err := f.begin(ctx, "Save"); err != nil {
		return nil, err
	}
	type entry struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var entries []entry
	for _, ref := range refs {
		id, ok := f.lookup(ref)
		if !ok {
			return nil, fmt.Errorf("save %s: no such image: %w", ref, cerrdefs.ErrNotFound)
		}
		entries = append(entries, entry{Config: strings.TrimPrefix(id, "sha256:") + ".json", RepoTags: []string{ref}})
	}
	data, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	if err := w.WriteHeader(&tar.Header{Name: "manifest.json", Mode: 0o644, Size: int64(len(data))}); err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	return io.NopCloser(&buf), w.Close()
}

// Env implements Client.
func (f *Fake) Env() []string { return nil }

// Close implements Client.
func (f *Fake) Close() error { return nil }

// fullRef returns ref with registry and tag; empty if it is not a reference.
func fullRef(ref string) string {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return ""
	}
	return reference.TagNameOnly(named).String()
}

// digestOf returns an id in the form of a content id.
func digestOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// clean returns the absolute path of a name in a container.
func clean(name string) string { return path.Clean("/" + name) }
