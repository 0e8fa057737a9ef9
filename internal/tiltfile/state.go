package tiltfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/pkg/model"
)

// state is one evaluation with what its program declares, by topic. It is used by one goroutine.
type state struct {
	*evaluation
	opts     Options
	interp   *interpreter
	secrets  *secretFinder
	gate     *gate
	ignores  *ignoreRules
	images   *imageDeclarations
	k8s      *k8sDeclarations
	services *composeDeclarations
	locals   *localDeclarations
	api      *apiDeclarations
	config   *configDeclarations
	settings *sessionSettings
	defaults *resourceDefaults
	// inner is set for an extension that is evaluated on its own, beside the named resources.
	inner  bool
	beside []model.ManifestName
}

func newState(ctx context.Context, path string, o Options) *state {
	e := newEvaluation(ctx, newSources(path, o.Debug), o.Logger, o.Env)
	e.memo, e.profile, e.warnLater = o.Memo, newProfiler(o.Profile), o.WarnLater
	if o.TiltPort != "" {
		e.variables = append(e.variables, "TILT_PORT="+o.TiltPort)
	}
	if o.TiltHost != "" {
		e.variables = append(e.variables, "TILT_HOST="+o.TiltHost)
	}
	e.copies = cmp.Or(o.ExtensionDir, extension.DefaultDir())
	s := &state{evaluation: e, opts: o,
		interp:  newInterpreter(e, extension.Store{Dir: e.copies, Env: e.env.list(), Log: o.Logger}),
		secrets: newSecretFinder(o.Memo, o.OnSecrets), gate: newGate(o.Cluster, o.Namespace), ignores: newIgnoreRules(),
		config: newConfigDeclarations(e, o.Args), settings: newSessionSettings(), defaults: &resourceDefaults{},
	}
	e.learn = s.secrets.look
	s.images = newImageDeclarations(e)
	s.k8s = newK8sDeclarations(e, s.images, s.defaults)
	s.services = newComposeDeclarations(e, s.images, s.defaults)
	s.locals = newLocalDeclarations(e, s.gate, s.defaults)
	s.api = newAPIDeclarations(e, &s.interp.registry)
	s.interp.native = newNative(e, filepath.Join(e.copies, "cache"))
	s.interp.predeclare(s.builtins(), s.constants())
	return s
}

// load runs the program and assembles what it declared.
func (s *state) load() (model.Tiltfile, error) {
	stop := context.AfterFunc(s.ctx, func() { s.thread.Cancel(context.Cause(s.ctx).Error()) })
	defer stop()
	s.commands = startRunner(s.ctx, s.log, s.memo, s.profile, s.main)
	defer s.commands.stop()
	s.ignores.readTiltIgnore(s.evaluation)
	s.declareGiven()
	_, err := s.interp.execFile(s.main)
	if errors.Is(err, errExit) {
		err = nil
	}
	var tf model.Tiltfile
	if err == nil {
		done := s.profile.assembling()
		tf, err = s.finish()
		done()
		if err == nil && !s.inner {
			s.ownExtensions(&tf)
		}
	}
	s.commands.keep(err != nil)
	if s.ctx.Err() != nil {
		return tf, fmt.Errorf("evaluate %s: %w", filepath.Base(s.main), context.Cause(s.ctx))
	}
	located := s.interp.locate(err)
	if args := (*ArgsError)(nil); errors.As(err, &args) {
		located = &ArgsError{located}
	}
	return tf, located
}
