package tiltfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hone-dev/hone/internal/tiltfile/command"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/profile"
	"github.com/hone-dev/hone/pkg/model"
)

// state is one evaluation with what its program declares, by topic. It is used by one goroutine.
type state struct {
	*eval.Evaluation
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
	e := eval.New(ctx, fault.NewSources(path, o.Debug), o.Logger, o.Env)
	e.Memo, e.Profile, e.WarnLater = o.Memo, profile.NewProfiler(o.Profile), o.WarnLater
	if o.TiltPort != "" {
		e.Variables = append(e.Variables, "TILT_PORT="+o.TiltPort)
	}
	if o.TiltHost != "" {
		e.Variables = append(e.Variables, "TILT_HOST="+o.TiltHost)
	}
	e.Copies = cmp.Or(o.ExtensionDir, extension.DefaultDir())
	s := &state{Evaluation: e, opts: o,
		interp:  newInterpreter(e, extension.Store{Dir: e.Copies, Env: e.Env.List(), Log: o.Logger}),
		secrets: newSecretFinder(o.Memo, o.OnSecrets), gate: newGate(o.Cluster, o.Namespace), ignores: newIgnoreRules(),
		config: newConfigDeclarations(e, o.Args), settings: newSessionSettings(), defaults: &resourceDefaults{},
	}
	e.OnText = s.secrets.look
	s.images = newImageDeclarations(e)
	s.k8s = newK8sDeclarations(e, s.images, s.defaults)
	s.services = newComposeDeclarations(e, s.images, s.defaults)
	s.locals = newLocalDeclarations(e, s.gate, s.defaults)
	s.api = newAPIDeclarations(e, &s.interp.registry)
	s.interp.native = newNative(e, filepath.Join(e.Copies, "cache"))
	s.interp.predeclare(s.builtins(), s.constants())
	return s
}

// load runs the program and assembles what it declared.
func (s *state) load() (model.Tiltfile, error) {
	stop := context.AfterFunc(s.Context, func() { s.Thread.Cancel(context.Cause(s.Context).Error()) })
	defer stop()
	s.Commands = command.Start(s.Context, s.Log, s.Memo, s.Profile, s.Main)
	defer s.Commands.Stop()
	s.ignores.readTiltIgnore(s.Evaluation)
	s.declareGiven()
	_, err := s.interp.execFile(s.Main)
	if errors.Is(err, eval.ErrExit) {
		err = nil
	}
	var tf model.Tiltfile
	if err == nil {
		done := s.Profile.Assembling()
		tf, err = s.finish()
		done()
		if err == nil && !s.inner {
			s.ownExtensions(&tf)
		}
	}
	s.Commands.Keep(err != nil)
	if s.Context.Err() != nil {
		return tf, fmt.Errorf("evaluate %s: %w", filepath.Base(s.Main), context.Cause(s.Context))
	}
	located := s.interp.locate(err)
	if args := (*fault.ArgsError)(nil); errors.As(err, &args) {
		located = &fault.ArgsError{Err: located}
	}
	return tf, located
}
