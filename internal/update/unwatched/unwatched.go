// Package unwatched finds the files that builds and commands read although nothing watches them, so that a change of one starts no update.
// It starts no goroutines.
package unwatched

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/model"
)

// most bounds the entries of a tree that are looked at: an answer must not take long. The rest counts as unchanged.
const most = 10_000

// Undeclared stands for the files of a custom_build that names none.
const Undeclared = "the files of a custom_build without deps="

// Finder finds unwatched inputs. It may be used by several goroutines.
type Finder struct {
	dir   string // that relative sources of secrets belong to
	mu    sync.Mutex
	links map[model.TargetID]linked // guarded by mu
}

// linked are the files outside of the paths that a target watches to which links in them lead. They stay the same until a link changes, which
// starts an update.
type linked struct {
	at    time.Time // when the update ended
	files []string
}

// New returns a finder. The sources of secrets are relative to a folder.
func New(dir string) *Finder { return &Finder{dir: dir, links: map[model.TargetID]linked{}} }

// Changed returns the unwatched inputs of a resource that have changed since its targets were built, sorted. The ignores leave files out of all
// watches, but not out of the contexts of images. built returns the times at which the build of a
// target began and ended, zero for none: a file that has changed while a command ran counts as written by it.
func (f *Finder) Changed(m *model.Manifest, ignores []model.Ignore, built func(model.TargetID) (began, ended time.Time)) (changed []string) {
	for i := range m.Images {
		im := &m.Images[i]
		at, ended := built(im.ID())
		switch {
		case at.IsZero():
		case im.Docker != nil:
			changed = append(changed, Since(f.secrets(im), at)...)
			changed = append(changed, leftOut(im.Docker, ignores, at)...)
		case im.Custom != nil && !im.Custom.BuildsNothing():
			if len(im.Watch.Paths) == 0 && !im.Custom.DepsComplete {
				changed = append(changed, Undeclared)
			}
			changed = append(changed, f.ofCommand(im.ID(), im.Custom.Command, im.Watch, ended)...)
		}
	}
	_, ended := built(m.DeployID())
	if ended.IsZero() {
		return distinct(changed)
	}
	if m.IsLocal() && !m.Local.Update.Empty() {
		changed = append(changed, f.ofCommand(m.DeployID(), m.Local.Update, m.Local.Watch, ended)...)
	}
	if d := m.CustomDeploy(); d != nil {
		changed = append(changed, f.ofCommand(m.DeployID(), d.Apply, d.Watch, ended)...)
	}
	return distinct(changed)
}

func distinct(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Since returns the files that have changed since a time.
func Since(files []string, at time.Time) (changed []string) {
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.ModTime().After(at) {
			changed = append(changed, file)
		}
	}
	return changed
}

// covers reports whether a file lies below one of the paths that a target watches.
func covers(w model.WatchSpec, file string) bool {
	return slices.ContainsFunc(w.Paths, func(p string) bool { return model.IsChild(p, file) })
}

// secrets returns the sources of the secrets of an image's build that nothing watches.
func (f *Finder) secrets(im *model.ImageTarget) (files []string) {
	for _, s := range im.Docker.Secrets {
		file := sourceOf(s)
		if file != "" && !filepath.IsAbs(file) {
			file = filepath.Join(f.dir, file)
		}
		if file != "" && !covers(im.Watch, file) {
			files = append(files, file)
		}
	}
	return files
}

// sourceOf returns the file of a secret that is specified as in "docker build --secret id=key,src=file"; empty if it has none.
func sourceOf(secret string) (file string) {
	for field := range strings.SplitSeq(secret, ",") {
		key, value, _ := strings.Cut(field, "=")
		if key == "src" || key == "source" {
			file = value
		}
	}
	return file
}

// leftOut returns the files in the context of an image that the ignores leave out of the watch only, and that have changed since a time.
func leftOut(d *model.DockerBuild, ignores []model.Ignore, at time.Time) (changed []string) {
	if d.Context == "" || len(ignores) == 0 {
		return nil
	}
	unsent, err := watch.NewMatcher(append(slices.Clone(d.ContextIgnores), model.Ignore{Base: d.Context, Patterns: watch.Ephemeral}))
	if err != nil {
		return nil
	}
	unseen, err := watch.NewMatcher(ignores)
	if err != nil {
		return nil
	}
	each(d.Context, unsent, func(path string, e fs.DirEntry) {
		if !e.Type().IsRegular() || !unseen.Matches(path) {
			return
		}
		if info, err := e.Info(); err == nil && info.ModTime().After(at) {
			changed = append(changed, path)
		}
	})
	return changed
}

// each calls f with the entries below a folder that are not left out, at most with the first most.
func each(dir string, leaveOut watch.Matcher, f func(path string, e fs.DirEntry)) {
	seen := 0
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > most {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read cannot be compared either
		case e.IsDir() && leaveOut.MatchesEntireDir(path):
			return fs.SkipDir
		case !leaveOut.Matches(path):
			f(path, e)
		}
		return nil
	})
}

// ofCommand returns the inputs of a command that nothing watches and that have changed since a time: the files that its words name, and those
// to which links in its inputs lead.
func (f *Finder) ofCommand(id model.TargetID, cmd model.Cmd, w model.WatchSpec, at time.Time) []string {
	if cmd.Dir == "" {
		cmd.Dir = f.dir
	}
	files := slices.DeleteFunc(process.NamedFiles(cmd), func(file string) bool { return covers(w, file) })
	return Since(append(files, f.linked(id, w, at)...), at)
}

// linked returns the files outside of the watched paths to which links in them lead.
func (f *Finder) linked(id model.TargetID, w model.WatchSpec, at time.Time) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l, ok := f.links[id]; ok && l.at.Equal(at) {
		return l.files
	}
	var files []string
	ignores := w.Ignores
	for _, p := range w.Paths {
		ignores = append(slices.Clip(ignores), model.Ignore{Base: p, Patterns: watch.Ephemeral})
	}
	leaveOut, err := watch.NewMatcher(ignores)
	if err != nil {
		return nil
	}
	for _, root := range w.Paths {
		each(root, leaveOut, func(path string, e fs.DirEntry) {
			if e.Type()&fs.ModeSymlink == 0 {
				return
			}
			to, err := filepath.EvalSymlinks(path)
			if err == nil && !covers(w, to) {
				each(to, leaveOut, func(path string, e fs.DirEntry) {
					if e.Type().IsRegular() {
						files = append(files, path)
					}
				})
			}
		})
	}
	f.links[id] = linked{at, files}
	return files
}
