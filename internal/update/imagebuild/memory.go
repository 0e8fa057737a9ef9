package imagebuild

import (
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
	// Of is the reference of the image in the Tiltfile.
	Of      string `json:"of"`
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

// newest returns the last image of a reference, whatever its inputs were.
func (m *Memory) newest(ref string) (model.ImageResult, bool) {
	for _, path := range m.files() {
		if r, ok := m.read(path); ok && r.Of == ref {
			return model.ImageResult{Local: r.Local, Cluster: r.Cluster, ImageID: r.ImageID}, true
		}
	}
	return model.ImageResult{}, false
}

// put records the image that was built from some inputs, and forgets the oldest builds.
func (m *Memory) put(inputs, ref string, result model.ImageResult) {
	raw, err := json.Marshal(remembered{Of: ref, Local: result.Local, Cluster: result.Cluster, ImageID: result.ImageID})
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
