package tiltfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/tiltfile/kubecontext"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
	"github.com/hone-dev/hone/internal/tiltfile/profile"
	"github.com/hone-dev/hone/pkg/model"
)

// Options select the Tiltfile to evaluate, its arguments and its environment.
type Options struct {
	// Path is the path of the Tiltfile, absolute or relative to the working folder.
	Path string
	// Args are the Tiltfile's arguments: the names of resources, or arguments for config.parse.
	Args []string
	// Subcommand is the value of config.tilt_subcommand: "up", "ci", "down" and so on.
	Subcommand string
	// Cluster returns the cluster. It is called at most once, and only when the Tiltfile needs it. A cluster without a
	// context means that there is no kubeconfig, and then nothing is refused. A nil function means the same.
	Cluster func() (model.Cluster, error)
	// Clusters finds other clusters, which the Tiltfile declares, in the kubeconfig; nil means that there is none.
	Clusters kubecontext.Find
	// Capabilities asks the cluster for its version and its APIs. It is called at most once, and only when a chart depends on the
	// answer. A nil function means that there is no cluster.
	Capabilities func(context.Context) (model.Capabilities, error)
	// Namespace is the result of k8s_namespace() when it is not empty; otherwise that function returns the cluster's namespace.
	Namespace string
	// Env is the environment of the evaluation and its commands ("K=V"); nil means the process's own environment.
	Env []string
	// Logger takes the Tiltfile's output, its commands with their output, and warnings; nil discards them.
	Logger logstore.Logger
	// Await is told what the evaluation waits for, and returns a function that ends the wait; waits may contain others. It may be nil.
	Await func(what string) (over func())
	// OnSecrets receives values that logs must not show, each as soon as the program reads it and before it can print it, and once
	// more if it turns out to be a name of the project. At the end Result.Secrets has all of them, also if the evaluation fails. It
	// is called from one goroutine. It may be nil.
	OnSecrets func(more []model.Secret)
	// WarnLater keeps warnings from Logger: the caller logs them once it knows the secrets that they may hold.
	WarnLater bool
	// TiltPort and TiltHost go into the environment of commands where they are not empty.
	TiltPort string
	TiltHost string
	// ExtensionDir is the folder for copies of extension repositories; empty means extension.DefaultDir().
	ExtensionDir string
	// Given are extensions and extension repositories that are declared before the Tiltfile runs. They are not part of the result.
	Given model.APIObjects
	// Memo remembers the results of earlier evaluations; nil starts from scratch.
	Memo *memo.Memo
	// Debug shows the calls that led to an error below it.
	Debug bool
	// Profile requests Result.Profile.
	Profile bool
}

// Result is the result of an evaluation.
type Result struct {
	model.Tiltfile
	// Err is the reason why the evaluation failed. It is a *fault.Error where a place in a Tiltfile is known, and
	// fault.Errors where there are several independent ones. ConfigFiles and Ignores are set in either case, so that a
	// fix is noticed, and so is Secrets, because the error may quote them.
	Err error
	// Profile shows where the time went; nil unless Options.Profile is set.
	Profile *profile.Profile
	// Took is the duration of the evaluation.
	Took time.Duration
}

// Load evaluates a Tiltfile. When ctx is cancelled it stops soon, and the result's error wraps ctx's.
func Load(ctx context.Context, o Options) Result {
	began := time.Now()
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return Result{Err: fmt.Errorf("find the Tiltfile: %w", err)}
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Logger == nil {
		o.Logger = logstore.Discard
	}
	if o.Memo == nil {
		o.Memo = memo.New() // work that one evaluation requests twice is done once
	}
	s := newState(ctx, path, o)
	defer s.Awaiting("the Tiltfile to be evaluated")()
	tf, err := s.load()
	tf.ConfigFiles, tf.Read = s.ConfigFiles(), s.Read
	tf.Unwatched = s.Unwatched()
	tf.Served, tf.ServedBy = s.Cluster.Told(), s.gate.Told()
	tf.Ignores = s.ignores.List
	tf.Warnings = s.Warnings
	if err != nil {
		tf.Manifests, tf.APIObjects = nil, model.APIObjects{}
	}
	return Result{Tiltfile: tf, Err: err, Profile: s.Profile.Result(), Took: time.Since(began)}
}
