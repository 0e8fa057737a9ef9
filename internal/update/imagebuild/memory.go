package imagebuild

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// kept is the number of builds of a target that a Memory keeps.
	kept = 16
	// keptMonths is the time after its newest build at which a target is forgotten.
	keptMonths = 2
)

// Memory remembers the images that builds made of their inputs, in a folder with one folder for each target and one file for each build,
// so that other processes can use them. It is a cache: a file that cannot be read or written counts as missing.
type Memory struct{ dir string }

// NewMemory returns the memory in a folder, which is made when it is first written to.
func NewMemory(dir string) *Memory { return &Memory{dir} }

// remembered is a build in a Memory.
type remembered struct {
	Local   string `json:"local"`
	Cluster string `json:"cluster"`
	ImageID string `json:"imageID,omitempty"`
}

// folder returns the folder of a target. The file or the folder that the image is built from distinguishes projects that use the same
// reference.
func (m *Memory) folder(t model.ImageTarget) string {
	sum := sha256.Sum256([]byte(t.Ref + "\x00" + place(t)))
	return filepath.Join(m.dir, hex.EncodeToString(sum[:16]))
}

func (m *Memory) path(t model.ImageTarget, inputs string) string {
	return filepath.Join(m.folder(t), inputs+suffix)
}

// targetFolder is the name of a target's folder.
var targetFolder = regexp.MustCompile(`^[0-9a-f]{32}$`)

// suffix is the end of the names of builds.
const suffix = ".json"

// get returns the image of a target that was built from some inputs.
func (m *Memory) get(t model.ImageTarget, inputs string) (model.ImageResult, bool) {
	return m.read(m.path(t, inputs))
}

func (m *Memory) read(path string) (model.ImageResult, bool) {
	var r remembered
	raw, err := os.ReadFile(path)
	ok := err == nil && json.Unmarshal(raw, &r) == nil && r.Cluster != ""
	return model.ImageResult{Local: r.Local, Cluster: r.Cluster, ImageID: r.ImageID}, ok
}

// Last returns the image that was built last for a target, or taken again instead of a build, whatever its inputs were.
func (m *Memory) Last(t model.ImageTarget) (model.ImageResult, bool) {
	for _, path := range m.builds(t) {
		if r, ok := m.read(path); ok {
			return r, true
		}
	}
	return model.ImageResult{}, false
}

// used makes a build the newest one: its image was taken again.
func (m *Memory) used(t model.ImageTarget, inputs string) {
	now := time.Now()
	_ = os.Chtimes(m.path(t, inputs), now, now)
}

// place returns the file or the folder that an image is built from.
func place(t model.ImageTarget) string {
	if t.Docker != nil {
		return cmp.Or(t.Docker.Dockerfile, t.Docker.Context)
	}
	return t.Custom.Command.Dir
}

// put records the image that was built from some inputs, and forgets the target's oldest builds.
func (m *Memory) put(inputs string, t model.ImageTarget, result model.ImageResult) {
	raw, err := json.Marshal(remembered{Local: result.Local, Cluster: result.Cluster, ImageID: result.ImageID})
	if err != nil || m.write(t, m.path(t, inputs), raw) != nil {
		return
	}
	if all := m.builds(t); len(all) > kept {
		for _, path := range all[kept:] {
			_ = os.Remove(path)
		}
	}
}

// write writes a file of a target.
func (m *Memory) write(t model.ImageTarget, path string, raw []byte) error {
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return err
	}
	switch err := os.Mkdir(m.folder(t), 0o700); {
	case err == nil:
		m.forget()
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	return atomicfile.WriteCache(path, raw, 0o600)
}

// forget removes the targets that have not been built for long, and the files that earlier versions of hone have written.
func (m *Memory) forget() {
	entries, _ := os.ReadDir(m.dir)
	oldest := time.Now().AddDate(0, -keptMonths, 0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		earlier := e.Name() == "last" || filepath.Ext(e.Name()) == suffix
		gone := targetFolder.MatchString(e.Name()) && info.ModTime().Before(oldest)
		if earlier || gone { // the other files belong to someone else
			_ = os.RemoveAll(filepath.Join(m.dir, e.Name()))
		}
	}
}

// digestsFolder has a file for each base image, with its last known digest.
const digestsFolder = "digests"

func (m *Memory) digestPath(ref string) string {
	sum := sha256.Sum256([]byte(ref))
	return filepath.Join(m.dir, digestsFolder, hex.EncodeToString(sum[:16]))
}

// digest returns the last known digest of a base image, or an empty text.
func (m *Memory) digest(ref string) string {
	raw, _ := os.ReadFile(m.digestPath(ref))
	return string(raw)
}

// noteDigest records the digest of a base image.
func (m *Memory) noteDigest(ref, digest string) {
	if m.digest(ref) == digest {
		return
	}
	path := m.digestPath(ref)
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = atomicfile.WriteCache(path, []byte(digest), 0o600)
	}
}

// builds returns the files of a target's builds, newest first.
func (m *Memory) builds(t model.ImageTarget) []string {
	paths, _ := filepath.Glob(filepath.Join(m.folder(t), "*"+suffix))
	return newestFirst(paths)
}

// newestFirst sorts files by the time of their change.
func newestFirst(paths []string) []string {
	at := make(map[string]time.Time, len(paths))
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			at[path] = info.ModTime()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return at[b].Compare(at[a]) })
	return paths
}
