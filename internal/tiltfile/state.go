package tiltfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hone-dev/hone/internal/tiltfile/command"
	"github.com/hone-dev/hone/internal/tiltfile/config"
	"github.com/hone-dev/hone/internal/tiltfile/dialect"
	"github.com/hone-dev/hone/internal/tiltfile/dockercompose"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/ignore"
	"github.com/hone-dev/hone/internal/tiltfile/image"
	"github.com/hone-dev/hone/internal/tiltfile/interpreter"
	"github.com/hone-dev/hone/internal/tiltfile/kubecontext"
	"github.com/hone-dev/hone/internal/tiltfile/kubernetes"
	"github.com/hone-dev/hone/internal/tiltfile/local"
	"github.com/hone-dev/hone/internal/tiltfile/native"
	"github.com/hone-dev/hone/internal/tiltfile/profile"
	"github.com/hone-dev/hone/internal/tiltfile/resource"
	"github.com/hone-dev/hone/internal/tiltfile/secret"
	"github.com/hone-dev/hone/internal/tiltfile/settings"
	"github.com/hone-dev/hone/internal/tiltfile/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// state is one evaluation and the declarations of its program, by topic. It is used by one goroutine.
type state struct {
	*eval.Evaluation
	opts     Options
	interp   *interpreter.Interpreter
	secrets  *secret.Finder
	gate     *kubecontext.Gate
	ignores  *ignore.Rules
	images   *image.Declarations
	k8s      *kubernetes.Declarations
	services *dockercompose.Declarations
	locals   *local.Declarations
	api      *v1alpha1.Declarations
	config   *config.Declarations
	settings *settings.Settings
	defaults *resource.Defaults
	// inner is set for an extension that is evaluated on its own; beside names the resources that exist already.
	inner  bool
	beside []model.ManifestName
}

func newState(ctx context.Context, path string, o Options) *state {
	e := eval.New(ctx, fault.NewSources(path, o.Debug), o.Logger, o.Env)
	e.Memo, e.Profile, e.WarnLater = o.Memo, profile.NewProfiler(o.Profile), o.WarnLater
	e.Await = o.Await
	e.Cluster = &eval.Served{Ask: o.Capabilities}
	if o.TiltPort != "" {
		e.Variables = append(e.Variables, "TILT_PORT="+o.TiltPort)
	}
	if o.TiltHost != "" {
		e.Variables = append(e.Variables, "TILT_HOST="+o.TiltHost)
	}
	e.Copies = cmp.Or(o.ExtensionDir, extension.DefaultDir())
	s := &state{Evaluation: e, opts: o,
		interp:  interpreter.New(e, extension.Store{Dir: e.Copies, Env: e.Env.List(), Log: o.Logger}),
		secrets: secret.NewFinder(o.Memo, o.OnSecrets), gate: kubecontext.NewGate(o.Cluster, o.Clusters, o.Namespace), ignores: ignore.NewRules(),
		config: config.New(e, o.Args), settings: settings.New(o.Path), defaults: &resource.Defaults{},
	}
	e.Declared = func(name string) (*eval.Served, error) { return s.gate.Served(name, e.Cluster) }
	e.OnText, e.OnSecrets = s.secrets.Look, s.secrets.Learn
	s.images = image.New(e)
	s.k8s = kubernetes.New(e, s.images, s.gate, s.defaults, o.Namespace)
	s.services = dockercompose.New(e, s.images, s.defaults)
	s.locals = local.New(e, s.gate, s.defaults)
	s.api = v1alpha1.New(e, &s.interp.Registry)
	s.interp.Native = native.New(e, filepath.Join(e.Copies, "cache"))
	s.interp.Predeclare(s.builtins(), s.constants())
	return s
}

// load runs the program and assembles its declarations.
func (s *state) load() (model.Tiltfile, error) {
	stop := context.AfterFunc(s.Context, func() { s.Thread.Cancel(context.Cause(s.Context).Error()) })
	defer stop()
	defer dialect.Most.WatchMemory(s.Thread)()
	s.Commands = command.Start(s.Context, s.Log, s.Memo, s.Profile, s.Main)
	defer s.Commands.Stop()
	s.ignores.ReadTiltignore(s.Evaluation)
	s.declareGiven()
	s.hideEnvironment()
	_, err := s.interp.Run(s.Main)
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
	if err != nil {
		tf.Secrets = s.hidden(nil)
	}
	s.secrets.Learn(tf.Secrets)
	s.Commands.Keep(err != nil)
	if s.Context.Err() != nil {
		return tf, fmt.Errorf("evaluate %s: %w", filepath.Base(s.Main), context.Cause(s.Context))
	}
	located := s.interp.Locate(err)
	if args := (*fault.ArgsError)(nil); errors.As(err, &args) {
		located = &fault.ArgsError{Err: located}
	}
	return tf, located
}
