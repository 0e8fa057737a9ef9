package tiltfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"time"

	"github.com/zeebo/xxh3"
	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/pkg/model"
)

// state is one evaluation. It is used by one goroutine.
type state struct {
	ctx  context.Context
	opts Options
	log  logstore.Logger
	// main is the absolute path of the root Tiltfile.
	main   string
	thread *starlark.Thread
	// running holds the files being executed, innermost last.
	running     []string
	modules     map[string]*module
	sources     map[string]string
	ext         extensions
	predeclared starlark.StringDict
	config      fileSet
	read        map[string]uint64 // as model.Tiltfile.Read
	env         *environ
	warnings    []string
	ignores     []model.Ignore

	images  imageIndex
	steps   []*step
	objects objectIndex
	compose composeIndex
	// kinds are the k8s_kind and k8s_image_json_path calls in order, customs those of k8s_custom_deploy.
	kinds   []*kindRule
	customs []*customDeploy
	// options are the k8s_resource calls in order.
	options     []*resourceOptions
	locals      []*localResource
	nameFn      *nameFunction
	registry    *model.Registry
	triggerMode model.TriggerMode
	triggerSet  bool
	update      model.UpdateSettings
	ci          model.CISettings
	prune       model.DockerPruneSettings
	keepSecrets bool
	// learned are the values of the Secrets that the program came by so far.
	learned       []model.Secret
	flags         configFlags
	gate          gate
	enabledByCall bool
	enabled       []string
	// enableAll is set where the last call named none, which means all.
	enableAll   bool
	enabledSite site
	apiState
	// inner is set for an extension that is evaluated on its own, beside the named resources.
	inner   bool
	beside  []model.ManifestName
	profile *profiler
	memo    *Memo
	ahead   *ahead
	// known are the commands with known inputs that were asked for.
	known []prepared
}

func newState(ctx context.Context, path string, o Options) *state {
	s := &state{
		ctx: ctx, opts: o, log: o.Logger, main: path,
		modules: map[string]*module{}, sources: map[string]string{}, config: fileSet{}, read: map[string]uint64{},
		env:    newEnviron(o.Env),
		update: model.DefaultUpdateSettings, ci: model.DefaultCISettings, prune: model.DefaultDockerPruneSettings,
		flags:   configFlags{defs: map[string]*flagDef{}},
		profile: newProfiler(o.Profile), memo: o.Memo,
	}
	s.objects.byKey = map[objectKey]*object{}
	s.ext.store = extension.Store{Dir: cmp.Or(o.ExtensionDir, extension.DefaultDir()), Env: s.env.list(), Log: o.Logger}
	s.thread = &starlark.Thread{Name: path, Print: func(_ *starlark.Thread, msg string) { s.log.Write(logstore.LevelInfo, msg+"\n") }}
	boundNesting(s.thread)
	s.thread.Load = func(_ *starlark.Thread, name string) (starlark.StringDict, error) {
		s.profile.enter()
		defer s.profile.leave("load", s.callSite)
		return s.loadModule(name)
	}
	s.predeclared = s.buildPredeclared()
	return s
}

// load runs the program and assembles what it declared.
func (s *state) load() (model.Tiltfile, error) {
	stop := context.AfterFunc(s.ctx, func() { s.thread.Cancel(context.Cause(s.ctx).Error()) })
	defer stop()
	s.ahead = startAhead(s.ctx, s.memo, s.memo.lastCommands(s.main))
	defer s.ahead.stop()
	s.readTiltIgnore()
	s.declareGiven()
	_, err := s.execFile(s.main)
	if errors.Is(err, errExit) {
		err = nil
	}
	var tf model.Tiltfile
	if err == nil {
		done := s.profile.measure(func(p *profiler) *time.Duration { return &p.assembly })
		tf, err = s.finish()
		done()
		if err == nil && !s.inner {
			s.ownExtensions(&tf)
		}
	}
	s.memo.keepCommands(s.main, s.known, err != nil)
	if s.ctx.Err() != nil {
		return tf, fmt.Errorf("evaluate %s: %w", filepath.Base(s.main), context.Cause(s.ctx))
	}
	located := s.locate(err)
	if args := (*ArgsError)(nil); errors.As(err, &args) {
		located = &ArgsError{located}
	}
	return tf, located
}

// file is the file being executed: the one whose folder relative paths start from.
func (s *state) file() string {
	if len(s.running) == 0 {
		return s.main
	}
	return s.running[len(s.running)-1]
}

// dir is the folder of the file being executed.
func (s *state) dir() string {
	if dir, ok := s.ext.folders[s.file()]; ok {
		return dir
	}
	return filepath.Dir(s.file())
}

// abs resolves a path of the Tiltfile.
func (s *state) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(s.dir(), path)
}

// readFile reads a file that the evaluation depends on, whether it exists or not.
func (s *state) readFile(path string) ([]byte, error) { return s.readUpTo(path, mostFile) }

// readUpTo is readFile for files of at most so many bytes. It remembers what it has read.
func (s *state) readUpTo(path string, most int) ([]byte, error) {
	s.config.add(path)
	data, err := readBounded(path, most)
	switch {
	case err == nil:
		s.read[path] = xxh3.Hash(data)
	case errors.Is(err, fs.ErrNotExist):
		s.read[path] = 0
	}
	return data, err
}

// warn tells the user of something that is probably a mistake.
func (s *state) warn(at site, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if at.line > 0 {
		msg = fmt.Sprintf("%s:%d: %s", at.file, at.line, msg)
	}
	s.warnings = append(s.warnings, msg)
	if !s.opts.WarnLater {
		logstore.Warnf(s.log, "%s", msg)
	}
}

// fileSet is a set of absolute paths.
type fileSet map[string]bool

func (f fileSet) add(paths ...string) {
	for _, p := range paths {
		f[p] = true
	}
}

func (f fileSet) list() []string {
	out := make([]string, 0, len(f))
	for p := range f {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}
