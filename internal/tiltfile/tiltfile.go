package tiltfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
	"github.com/hone-dev/hone/internal/tiltfile/profile"
	"github.com/hone-dev/hone/pkg/model"
)

// Options say what to evaluate and with which surroundings.
type Options struct {
	// Path is the path of the Tiltfile, absolute or relative to the working folder.
	Path string
	// Args are the Tiltfile's arguments: the names of resources, or what config.parse makes of them.
	Args []string
	// Subcommand is what config.tilt_subcommand says: "up", "ci", "down" and so on.
	Subcommand string
	// Cluster tells about the cluster. It is asked at most once, and only when the Tiltfile needs to know. A cluster
	// without a context means that there is no kubeconfig at all, and then nothing is refused. A nil function means the
	// same.
	Cluster func() (model.Cluster, error)
	// Namespace is what k8s_namespace() returns when it is not empty; otherwise the cluster's namespace.
	Namespace string
	// Env is the environment of the evaluation and its commands ("K=V"); nil means that of the process.
	Env []string
	// Logger takes what the Tiltfile prints, the commands with their output, and warnings; nil discards them.
	Logger logstore.Logger
	// OnSecrets is told of values that logs must not show, each as soon as the program comes by it, and before it can print
	// it; Result.Secrets has all of them at the end. It is called from one goroutine. Nil does without.
	OnSecrets func(more []model.Secret)
	// WarnLater keeps warnings from Logger: the caller tells them, when it knows the secrets that they may hold.
	WarnLater bool
	// TiltPort and TiltHost go into the environment of commands where they are not empty.
	TiltPort string
	TiltHost string
	// ExtensionDir is where copies of extension repositories are kept; empty means extension.DefaultDir().
	ExtensionDir string
	// Given are extensions, and repositories of some, that the Tiltfile finds declared. They are not part of the result.
	Given model.APIObjects
	// Memo remembers what evaluations with it have worked out; nil means that this one starts from nothing.
	Memo *memo.Memo
	// Debug shows the calls that led to an error below it.
	Debug bool
	// Profile asks for Result.Profile.
	Profile bool
}

// Result is what an evaluation yields.
type Result struct {
	model.Tiltfile
	// Err says why the evaluation failed. It is an *Error wherever a place in a Tiltfile can be named, and Errors where
	// there are several that have nothing to do with each other. ConfigFiles and Ignores are filled in either case, so
	// that the mended file is seen.
	Err error
	// Profile says where the time went; nil unless Options.Profile asked for it.
	Profile *profile.Profile
}

// Load evaluates a Tiltfile. When ctx is cancelled it stops soon, and the result's error wraps ctx's.
func Load(ctx context.Context, o Options) Result {
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
		o.Memo = memo.New() // what one evaluation asks for twice is worked out once
	}
	s := newState(ctx, path, o)
	tf, err := s.load()
	tf.ConfigFiles, tf.Read = s.ConfigFiles(), s.Read
	tf.Ignores = s.ignores.List
	tf.Warnings = s.Warnings
	if err != nil {
		tf.Manifests, tf.APIObjects = nil, model.APIObjects{}
	}
	return Result{Tiltfile: tf, Err: err, Profile: s.Profile.Result()}
}
