package imagebuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// inputsFormat changes when the same inputs give another image, because hone builds in another way.
	inputsFormat = "3"
	// maxInputs bounds the number of bytes that are read to sum up the inputs of a build; the sum of larger inputs stays unknown.
	maxInputs = 2 << 30
)

var (
	errTooLarge = errors.New("its files are too large to be compared")
	errPulls    = errors.New("pull=True, so its base may be another one")
)

// Foresee returns the image that Build would return for a request, if an earlier build of the same inputs has made it, and it still
// exists. The inputs are the content of the files, the Dockerfile or the command, the arguments, and the images that it is based on.
// Other sources of a build do not count, such as the packages that it installs.
func (b *Builder) Foresee(ctx context.Context, req Request) Prospect {
	defer b.forgetFiles(req)
	if last, ok := b.recalled(ctx, req); ok {
		return Prospect{Image: last, Known: true}
	}
	if result, _, ok := b.known(ctx, req); ok {
		return Prospect{Image: result, Known: true}
	}
	if _, there, ok := b.others(ctx, req, sums{}, b.find); ok {
		return Prospect{Image: there.result, Known: true, Registry: there.registry, Digest: there.digest}
	}
	why, inputs := b.why(ctx, req)
	return Prospect{Why: why, Inputs: inputs}
}

// known returns the image that an earlier build of the same inputs has made, and the sums of these inputs.
func (b *Builder) known(ctx context.Context, req Request) (result model.ImageResult, is sums, ok bool) {
	if b.memory == nil || req.NoCache {
		return result, is, false
	}
	is, err := b.sumUp(ctx, req)
	if err != nil {
		return result, sums{}, false
	}
	if result, ok = b.memory.get(req.Target, is.all); ok {
		result, ok = b.still(ctx, result, req.To)
	}
	if !ok {
		return model.ImageResult{}, is, false
	}
	result.StartedAt = b.now()
	if _, shared := req.holder(); shared && is.unresolved == nil {
		result.Key, err = keyRef(req, is)
	}
	return result, is, err == nil
}

// Last returns the image that was built last for a target, from whatever inputs.
func (b *Builder) Last(t model.ImageTarget) (model.ImageResult, bool) {
	if b.memory == nil {
		return model.ImageResult{}, false
	}
	return b.memory.Last(t)
}

// reuse returns the known image of the inputs, with the tags that a build gives it, or else the sums of the inputs, if it has had to look at
// them.
func (b *Builder) reuse(ctx context.Context, req Request) (result model.ImageResult, is sums, ok bool) {
	asked := req.Reuse || !req.renews() && declaresAll(req.Target)
	if !asked {
		return result, is, false
	}
	if _, built := b.Last(req.Target); !built { // its files are read while it is built
		return result, is, false
	}
	if files := b.filesBefore(req); !req.Reuse && files != nil && files.Cut { // so are too many files, of which each would be read
		return result, is, false
	}
	if result, is, ok = b.known(ctx, req); !ok {
		return result, is, false
	}
	if !b.tagged(ctx, req, result) {
		return model.ImageResult{}, is, false
	}
	b.memory.used(req.Target, is.all)
	b.listUnchanged(ctx, req, is, result)
	return result, is, true
}

// taken records an image that another machine has built from the same inputs.
func (b *Builder) taken(ctx context.Context, req Request, is sums, result model.ImageResult) {
	b.memory.put(is.all, req.Target, result)
	b.listUnchanged(ctx, req, is, result)
}

// listUnchanged records an image together with its files, unless they have changed since they were summed up.
func (b *Builder) listUnchanged(ctx context.Context, req Request, is sums, result model.ImageResult) {
	if now, err := look(ctx, req.Target, nil); err == nil && now == is.look {
		b.list(ctx, req, result, is.files)
	}
}

// tagged gives an image the tags that a build gives it, and reports whether it has them.
func (b *Builder) tagged(ctx context.Context, req Request, result model.ImageResult) bool {
	if req.Target.Docker == nil {
		return true
	}
	extra := req.Target.Docker.ExtraTags
	if result.ImageID == "" {
		return len(extra) == 0
	}
	for _, tag := range append([]string{result.Local}, extra...) {
		if b.docker.Tag(ctx, result.ImageID, tag) != nil {
			return false
		}
	}
	return true
}

// sums are the sums of a build's inputs: of everything, and of the metadata of its files.
type sums struct {
	all  string
	look uint64
	// inputs are the sums of the inputs that are not files, and files the files with theirs.
	inputs inputSums
	files  *listing
	// key is the reference by which others find the image of the inputs in a registry. unresolved is the reason why there is none.
	key        string
	unresolved error
}

// summing is the sum of the inputs of a build that runs at the same time.
type summing struct {
	began  time.Time
	before uint64 // the sum of the files' metadata before the build
	done   chan struct{}
	read   sums // when the files were read; valid when done, if err is nil
	err    error
}

// summing begins to sum up the inputs of a build, unless their sums are known. The sum is over soon after the context is.
func (b *Builder) summing(ctx context.Context, req Request, known sums) *summing {
	s := &summing{done: make(chan struct{}), began: b.now(), before: known.look, read: known}
	switch {
	case known.all != "":
		close(s.done)
		return s
	case b.memory == nil:
		s.err = errors.ErrUnsupported
	default:
		s.before, s.err = look(ctx, req.Target, nil)
	}
	if s.err != nil {
		close(s.done)
		return s
	}
	go func() {
		defer close(s.done)
		s.read, s.err = b.sumUp(ctx, req)
	}()
	return s
}

// remember waits for the sum of the inputs and records the image that was built from them. If files have changed meanwhile, it
// records nothing and returns false, because either content may be in the image.
func (b *Builder) remember(ctx context.Context, s *summing, req Request, result model.ImageResult) bool {
	<-s.done
	if s.err != nil || s.read.look != s.before {
		return false
	}
	after, err := look(ctx, req.Target, nil)
	if err != nil || after != s.before {
		return false
	}
	b.memory.put(s.read.all, req.Target, result)
	result.StartedAt = s.began
	b.list(ctx, req, result, s.read.files)
	return true
}

// look sums up the metadata of a target's files, without reading the files, and lists them in list unless it is nil.
func look(ctx context.Context, t model.ImageTarget, list *listing) (uint64, error) {
	in := inputs{look: xxh3.New(), list: list}
	err := in.target(ctx, t)
	return in.look.Sum64(), err
}

// sumUp returns the sums of a build's inputs.
func (b *Builder) sumUp(ctx context.Context, req Request) (is sums, err error) {
	in := newInputs()
	in.list, in.before, in.now, in.read = newListing(), b.filesBefore(req), b.now(), b.read
	if err = b.declared(ctx, in, req); err == nil {
		err = in.target(ctx, req.Target)
	}
	if err == nil {
		b.mu.Lock()
		b.files[b.memory.listPath(req)] = in.list
		b.mu.Unlock()
	}
	return sums{all: hex.EncodeToString(in.to.Sum(nil)), look: in.look.Sum64(), inputs: in.named, files: in.list, unresolved: in.unresolved}, err
}

// filesBefore returns the files of a request's target as they were last summed up: for the present request, or else for the last build.
func (b *Builder) filesBefore(req Request) *listing {
	b.mu.Lock()
	files := b.files[b.memory.listPath(req)]
	b.mu.Unlock()
	if files == nil {
		if last, ok := b.memory.lastList(req); ok {
			files = &last.Listing
		}
	}
	return files
}

// forgetFiles forgets the files of a target at the end of a request: there may be many.
func (b *Builder) forgetFiles(req Request) {
	if b.memory != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.files, b.memory.listPath(req))
	}
}

// declared adds the inputs of a build that are not files: the declaration, the Dockerfile, and the images that it is based on.
func (b *Builder) declared(ctx context.Context, in *inputs, req Request) (err error) {
	t := req.Target
	in.name(api.InputRules, "", inputsFormat, t.Ref)
	in.name(api.InputRegistry, "", req.Registry)
	for _, dep := range t.DependsOn {
		if req.Deps[dep].Local == "" {
			return fmt.Errorf("%s is not built", dep)
		}
		in.name(api.InputImage, dep, madeOf(req.Deps[dep]))
	}
	if t.Supervised {
		in.name(api.InputSynclet, "", program.Build())
		in.name(api.InputEntrypoint, "", t.Entrypoint, t.ContainerArgs, t.LiveUpdate.RestartProcess)
	}
	switch {
	case t.Docker != nil && t.Docker.Pull:
		return errPulls
	case t.Docker != nil:
		err = b.addDocker(ctx, in, req, *t.Docker)
	case complete(t):
		in.name(api.InputPlatform, "", platform("", req.Platform))
		in.name(api.InputCommand, "", t.Custom.Command.Argv, t.Custom.Command.Env)
		in.name(api.InputOptions, "", t.Custom.ImageDeps)
	case t.Custom != nil:
		in.name(api.InputPlatform, "", platform("", req.Platform))
		in.name(api.InputCommand, "", t.Custom.Command)
		in.name(api.InputOptions, "", t.Custom.Tag, t.Custom.SkipsLocalDocker, t.Custom.OutputsImageRefTo, t.Custom.ImageDeps)
	}
	return err
}

// addDocker adds the content of a Dockerfile and its arguments.
func (b *Builder) addDocker(ctx context.Context, in *inputs, req Request, spec model.DockerBuild) error {
	in.name(api.InputDockerfile, "", spec.Contents)
	in.name(api.InputTarget, "", spec.Target)
	in.name(api.InputPlatform, "", platform(spec.Platform, req.Platform))
	in.name(api.InputNetwork, "", spec.Network, spec.ExtraHosts)
	if spec.Options != "" {
		in.name(api.InputOptions, "", spec.Options)
	}
	if spec.CachesInline() { // other caches do not change the image
		in.name(api.InputOptions, "", model.CacheInline)
	}
	for _, id := range ids(spec.Secrets) {
		in.name(api.InputSecret, id)
	}
	for _, id := range ids(spec.SSH) {
		in.name(api.InputSSH, id)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.BuildArgs)) {
		value, given := os.LookupEnv(name)
		if v := spec.BuildArgs[name]; v != nil {
			value, given = *v, true
		}
		in.name(api.InputArgument, name, value, given)
	}
	for _, ref := range BaseImages(rewriteBases(spec, req.Deps), spec.BuildArgs) { // an image of this name may have been replaced
		made, built := builtAs(ref, req.Deps)
		if made.Key != "" { // it identifies the image
			continue
		}
		im, found, err := b.docker.Inspect(ctx, ref)
		switch {
		case err != nil:
			return err
		case found: // builds prefer it
			in.name(api.InputBase, ref, idOf(ref, im))
		case !built:
			digest, err := b.baseDigest(ctx, ref)
			in.name(api.InputBase, ref, digest)
			if err != nil {
				in.unresolved = fmt.Errorf("base image %s: %w", ref, err)
			}
		}
	}
	return nil
}

// noted is a digest that a registry has told.
type noted struct {
	digest string
	at     time.Time
}

// baseDigest returns the digest of a base image that the engine lacks. If its registry does not answer, that is the last known one, if any,
// together with the error.
func (b *Builder) baseDigest(ctx context.Context, ref string) (string, error) {
	b.mu.Lock()
	is, asked := b.digests[ref]
	b.mu.Unlock()
	if asked && b.now().Sub(is.at) < digestTime {
		return is.digest, nil
	}
	digest, err := b.registry.digest(ctx, ref)
	if err != nil {
		return b.memory.digest(ref), err
	}
	b.memory.noteDigest(ref, digest)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.digests[ref] = noted{digest, b.now()}
	return digest, nil
}

// idOf identifies the content of an image that the engine has as ref: by the digest in its registry, by which machines without it know
// it, or else by its id.
func idOf(ref string, im docker.Image) string {
	want, err := repository(ref)
	for _, known := range im.Digests {
		place, digest, _ := strings.Cut(known, "@")
		if has, failed := repository(place); err == nil && failed == nil && has == want {
			return digest
		}
	}
	return im.ID
}

// builtAs returns the built image that has the reference.
func builtAs(ref string, built map[string]model.ImageResult) (made model.ImageResult, ok bool) {
	for _, r := range built {
		if r.Local == ref {
			return r, true
		}
	}
	return made, false
}

// ids returns the ids in specifications of secrets and of SSH agents ("id=token,src=token.txt", "default=/run/agent"). Where
// their values come from does not matter.
func ids(specs []string) (out []string) {
	for _, spec := range specs {
		id, _, _ := strings.Cut(spec, "=")
		for _, field := range strings.Split(spec, ",") {
			if name, ok := strings.CutPrefix(field, "id="); ok {
				id = name
			}
		}
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// inputs sums up the inputs of a build.
type inputs struct {
	to    hash.Hash    // nil if no file is read
	look  *xxh3.Hasher // of the files' metadata
	list  *listing     // nil lists no file
	named inputSums    // nil if they are not needed
	// before has the sums of files that need not be read again if they are as they were. now is the present time, and read reads a file.
	before *listing
	now    time.Time
	read   func(path string) (sum uint64, err error)
	bytes  int64
	// unresolved is the reason why the content of a base image is not known.
	unresolved error
}

// newInputs returns the sums of inputs whose files are read.
func newInputs() *inputs {
	return &inputs{to: sha256.New(), look: xxh3.New(), named: inputSums{}, read: sumContent}
}

// name adds the values of an input that is not a file.
func (in *inputs) name(kind api.InputKind, name string, values ...any) {
	in.add(kind, name, values)
	if in.named != nil {
		in.named.add(kind, name, values)
	}
}

// add adds values.
func (in *inputs) add(values ...any) {
	if in.to != nil {
		_ = json.NewEncoder(in.to).Encode(values) // plain values, and a hash takes everything
	}
}

// target adds the files of a target.
func (in *inputs) target(ctx context.Context, t model.ImageTarget) error {
	switch {
	case complete(t): // in the folder of another clone, the files have the same names
		return in.watched(ctx, t.Watch, t.Custom.Command.Dir)
	case t.Docker == nil:
		return in.watched(ctx, t.Watch, "")
	}
	return docker.EachContextFile(ctx, t.Docker.Context, t.Docker.ContextIgnores, func(f docker.ContextFile) error {
		return in.file(filepath.Join(t.Docker.Context, filepath.FromSlash(f.Name)), f.Name, f.Mode, f.Link, f.Size, f.Modified)
	})
}

// watched adds the files that a target depends on, with names relative to a folder, or absolute ones without it.
func (in *inputs) watched(ctx context.Context, spec model.WatchSpec, base string) error {
	ignored, err := watch.NewMatcher(spec.Ignores)
	if err != nil {
		return err
	}
	for _, root := range slices.Sorted(slices.Values(spec.Paths)) {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case path != root && entry.IsDir() && ignored.MatchesEntireDir(path):
				return fs.SkipDir
			case path != root && ignored.Matches(path):
				return nil // a negated pattern may include entries of the folder again
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			link := ""
			if info.Mode()&fs.ModeSymlink != 0 {
				if link, err = os.Readlink(path); err != nil {
					return err
				}
			}
			name := path
			if base != "" {
				if name, err = filepath.Rel(base, path); err != nil {
					return err
				}
			}
			return in.file(path, filepath.ToSlash(name), info.Mode(), link, info.Size(), info.ModTime())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// file adds one file, folder or link.
func (in *inputs) file(path, name string, mode fs.FileMode, link string, size int64, modified time.Time) error {
	in.add(name, mode, link)
	fmt.Fprintln(in.look, name, mode, link)
	in.list.add(path, mode, link, size, modified)
	if !mode.IsRegular() {
		return nil
	}
	fmt.Fprintln(in.look, size, modified.UnixNano())
	if in.to == nil {
		return nil
	}
	stat := watch.StatSum(path, in.now)
	sum, known := in.before.content(path, stat)
	if !known {
		if in.bytes += size; in.bytes > maxInputs {
			return errTooLarge
		}
		var err error
		if sum, err = in.read(path); err != nil {
			return err
		}
	}
	in.add(sum)
	in.list.read(path, sum, stat)
	return nil
}

// sumContent reads a file, and returns the sum of its content.
func sumContent(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	h := xxh3.New()
	_, err = io.Copy(h, f)
	return h.Sum64(), err
}
