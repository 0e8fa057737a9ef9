package imagebuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/model"
)

// A session that begins knows the image that an earlier one has built last, and the files that it was built from. If only files have
// changed since that can be copied into containers, the image is not built again: it is deployed as it is, and its containers get the
// files in place, as they would have in the earlier session.

// maxListed is the number of files of an image that are listed. A larger one is built again by each session.
const maxListed = 20_000

// listing are the files of a build by path. A nil listing takes none.
type listing struct {
	Files map[string]fileSums `json:"files"`
	// Folders has a sum of each folder's mode, Links a sum of each link's mode and target.
	Folders map[string]uint64 `json:"folders"`
	Links   map[string]uint64 `json:"links"`
	// Cut is set if there are too many files: then none is listed.
	Cut bool `json:"cut,omitempty"`
}

// fileSums are the sums of one file.
type fileSums struct {
	// Look is the sum of its metadata, and Mode of the part of that which an image keeps.
	Look uint64 `json:"look"`
	Mode uint32 `json:"mode"`
	// Content is 0 if the file was not read.
	Content uint64 `json:"content,omitempty"`
	// Stat is the watch.StatSum before the file was read. A file that still has it need not be read again; 0 says nothing.
	Stat uint64 `json:"stat,omitempty"`
}

func newListing() *listing {
	return &listing{Files: map[string]fileSums{}, Folders: map[string]uint64{}, Links: map[string]uint64{}}
}

func (l *listing) add(path string, mode fs.FileMode, link string, size int64, modified time.Time) {
	switch {
	case l == nil || l.Cut:
	case len(l.Files)+len(l.Folders)+len(l.Links) >= maxListed:
		*l = *newListing()
		l.Cut = true
	case mode.IsRegular():
		l.Files[path] = fileSums{Look: xxh3.HashString(fmt.Sprintln(mode, size, modified.UnixNano())), Mode: uint32(mode)}
	case mode.IsDir():
		l.Folders[path] = uint64(mode)
	default:
		l.Links[path] = xxh3.HashString(fmt.Sprintln(mode, link))
	}
}

// read notes the sum of the content of a file.
func (l *listing) read(path string, content, stat uint64) {
	if l == nil || l.Cut {
		return
	}
	f := l.Files[path]
	f.Content, f.Stat = content, stat
	l.Files[path] = f
}

// content returns the sum of the content of a file that has not been written to since it was listed.
func (l *listing) content(path string, stat uint64) (sum uint64, ok bool) {
	if l == nil || stat == 0 {
		return 0, false
	}
	f, ok := l.Files[path]
	return f.Content, ok && f.Stat == stat
}

// changed returns the files that differ between two listings, sorted. ok is false if more than files differs.
func (l *listing) changed(now *listing) (files []string, ok bool) {
	if l.Cut || now.Cut {
		return nil, false
	}
	if !maps.Equal(l.Folders, now.Folders) || !maps.Equal(l.Links, now.Links) {
		return nil, false
	}
	for path, was := range l.Files {
		if is, there := now.Files[path]; !there || is.Look != was.Look {
			files = append(files, path)
		}
	}
	for path := range now.Files {
		if _, was := l.Files[path]; !was {
			files = append(files, path)
		}
	}
	slices.Sort(files)
	return files, true
}

// listed is the last image of a target, and its inputs.
type listed struct {
	remembered
	StartedAt time.Time `json:"startedAt"`
	// Key is the image's Key. It stands here, and in a registry as a tag of the image, but not in the image as a label or an annotation:
	// an image would then depend on its key, and not only on its content. Inputs that differ without an effect, such as a comment in the
	// Dockerfile or another inputsFormat, would give an image with another ID, and restart its pods.
	Key string `json:"key,omitempty"`
	// Declared is the sum of the inputs that are not files, and Inputs the sums of each.
	Declared string    `json:"declared"`
	Inputs   inputSums `json:"inputs"`
	Listing  listing   `json:"listing"`
}

// listPath returns the list of a request. A target that goes to several clusters has one for each of their registries.
func (m *Memory) listPath(req Request) string {
	name := listName
	if !req.Registry.Empty() {
		sum := sha256.Sum256([]byte(req.Registry.Host + "\x00" + req.Registry.HostFromCluster))
		name += "-" + hex.EncodeToString(sum[:8])
	}
	return filepath.Join(m.folder(req.Target), name)
}

// listName is the beginning of the names of lists.
const listName = "last"

// superseded is added to the name of a list when another build follows. The list is then only good for comparisons.
const superseded = ".superseded"

// readList reads a list.
func readList(path string) (last listed, ok bool) {
	raw, err := os.ReadFile(path)
	return last, err == nil && json.Unmarshal(raw, &last) == nil && last.Cluster != ""
}

// lastList returns the inputs of the target's last build that has succeeded for the registry of a request, or else for another one.
func (m *Memory) lastList(req Request) (last listed, ok bool) {
	path := m.listPath(req)
	others, _ := filepath.Glob(filepath.Join(m.folder(req.Target), listName+"*"))
	for _, path := range append([]string{path, path + superseded}, newestFirst(others)...) {
		if last, ok = readList(path); ok {
			return last, true
		}
	}
	return last, false
}

// list records the image of a target together with the inputs that it was made of.
func (b *Builder) list(ctx context.Context, req Request, result model.ImageResult, files *listing) {
	l := listed{remembered: remembered{Local: result.Local, Cluster: result.Cluster, ImageID: result.ImageID},
		StartedAt: result.StartedAt, Key: result.Key, Listing: *files}
	var err error
	l.Declared, l.Inputs, err = b.sumDeclared(ctx, req)
	raw, failed := json.Marshal(l)
	path := b.memory.listPath(req)
	if errors.Join(err, failed) != nil || b.memory.write(req.Target, path, raw) != nil {
		b.unlist(req)
		return
	}
	_ = os.Remove(path + superseded)
}

// unlist makes the last image of a target no longer count, because another one follows.
func (b *Builder) unlist(req Request) {
	if b.memory != nil {
		path := b.memory.listPath(req)
		_ = os.Rename(path, path+superseded)
	}
}

// sumDeclared returns the sum of the inputs that are not files, and the sum of each.
func (b *Builder) sumDeclared(ctx context.Context, req Request) (string, inputSums, error) {
	in := newInputs()
	err := b.declared(ctx, in, req)
	return hex.EncodeToString(in.to.Sum(nil)), in.named, err
}

// recalled returns the last image of a target if the request lets it lack the files that have changed since.
func (b *Builder) recalled(ctx context.Context, req Request) (result model.ImageResult, ok bool) {
	if b.memory == nil || req.NoCache || req.MayLack == nil {
		return result, false
	}
	last, found := readList(b.memory.listPath(req))
	if !found {
		return result, false
	}
	now := newListing()
	declared, _, err := b.sumDeclared(ctx, req)
	if err != nil || declared != last.Declared {
		return result, false
	}
	if _, err := look(ctx, req.Target, now); err != nil {
		return result, false
	}
	files, onlyFiles := last.Listing.changed(now)
	if !onlyFiles || !req.MayLack(files) {
		return result, false
	}
	result = model.ImageResult{Local: last.Local, Cluster: last.Cluster, ImageID: last.ImageID, StartedAt: last.StartedAt}
	if !b.Reusable(ctx, result, req.To) || !b.tagged(ctx, req, result) {
		return model.ImageResult{}, false
	}
	if len(files) == 0 && b.holds(req, last.Key) {
		result.Key = last.Key
	}
	for _, f := range files {
		if result.Lacks == nil {
			result.Lacks = map[string]time.Time{}
		}
		at := watch.ChangedOrGoneAt(f)
		if !at.After(last.StartedAt) { // it has the times of another file
			at = b.now()
		}
		result.Lacks[f] = at
	}
	return result, true
}

// lackText describes the files that an image of an earlier session lacks.
func lackText(last model.ImageResult) string {
	if len(last.Lacks) == 0 {
		return "nothing has changed since"
	}
	return "containers get " + words.Count(len(last.Lacks), "file") + " in place that changed since"
}
