package imagebuild

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/pkg/model"
)

// kept is the number of builds that a Memory keeps.
const kept = 300

// Memory remembers the images that builds made of their inputs, in a folder with one file for each build, so that other processes
// can use them. It is a cache: a file that cannot be read or written counts as missing.
type Memory struct{ dir string }

// NewMemory returns the memory in a folder, which is made when it is first written to.
func NewMemory(dir string) *Memory { return &Memory{dir} }

// remembered is a build in a Memory.
type remembered struct {
	// Of is the reference of the image in the Tiltfile. In distinguishes projects that use the same reference: the file or the folder
	// that the image is built from.
	Of      string `json:"of"`
	In      string `json:"in,omitempty"`
	Local   string `json:"local"`
	Cluster string `json:"cluster"`
	ImageID string `json:"imageID,omitempty"`
}

func (m *Memory) path(inputs string) string { return filepath.Join(m.dir, inputs+".json") }

// get returns the image that was built from some inputs.
func (m *Memory) get(inputs string) (model.ImageResult, bool) {
	r, ok := m.read(m.path(inputs))
	return model.ImageResult{Local: r.Local, Cluster: r.Cluster, ImageID: r.ImageID}, ok
}

func (m *Memory) read(path string) (r remembered, ok bool) {
	raw, err := os.ReadFile(path)
	return r, err == nil && json.Unmarshal(raw, &r) == nil && r.Cluster != ""
}

// Last returns the image that was built last for a target, or taken again instead of a build, whatever its inputs were.
func (m *Memory) Last(t model.ImageTarget) (model.ImageResult, bool) {
	for _, path := range m.files() {
		if r, ok := m.read(path); ok && r.Of == t.Ref && r.In == place(t) {
			return model.ImageResult{Local: r.Local, Cluster: r.Cluster, ImageID: r.ImageID}, true
		}
	}
	return model.ImageResult{}, false
}

// used makes a build the newest one: its image was taken again.
func (m *Memory) used(inputs string) {
	now := time.Now()
	_ = os.Chtimes(m.path(inputs), now, now)
}

// place returns the file or the folder that an image is built from.
func place(t model.ImageTarget) string {
	if t.Docker != nil {
		return cmp.Or(t.Docker.Dockerfile, t.Docker.Context)
	}
	return t.Custom.Command.Dir
}

// put records the image that was built from some inputs, and forgets the oldest builds.
func (m *Memory) put(inputs string, t model.ImageTarget, result model.ImageResult) {
	raw, err := json.Marshal(remembered{Of: t.Ref, In: place(t), Local: result.Local, Cluster: result.Cluster, ImageID: result.ImageID})
	if err != nil || os.MkdirAll(m.dir, 0o700) != nil || atomicfile.Write(m.path(inputs), raw, 0o600) != nil {
		return
	}
	if all := m.files(); len(all) > kept {
		for _, path := range all[kept:] {
			_ = os.Remove(path)
		}
	}
}

// files returns the files, newest first.
func (m *Memory) files() []string {
	paths, _ := filepath.Glob(filepath.Join(m.dir, "*.json"))
	at := make(map[string]time.Time, len(paths))
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			at[path] = info.ModTime()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return at[b].Compare(at[a]) })
	return paths
}
