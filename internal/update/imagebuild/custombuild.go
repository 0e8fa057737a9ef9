package imagebuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// CommandError means that the user's own build command failed. Its output is in the log already.
type CommandError struct {
	Command string
	Err     error
}

// Error returns the command and how it ended.
func (e *CommandError) Error() string {
	return fmt.Sprintf("build command \"%s\": %v", e.Command, e.Err)
}

// Unwrap returns the cause.
func (e *CommandError) Unwrap() error { return e.Err }

var _ error = (*CommandError)(nil)

// customBuild runs the user's command and takes the image that it builds.
func (b *Builder) customBuild(ctx context.Context, req Request, spec model.CustomBuild) (model.ImageResult, error) {
	result := model.ImageResult{StartedAt: b.now()}
	if err := b.expect(req, spec, &result); err != nil {
		return model.ImageResult{}, err
	}
	if spec.BuildsNothing() {
		logstore.Infof(req.Logger, "Nothing to build: %s is deployed as it is, and updated in place", result.Local)
	} else if err := b.runCommand(ctx, req, spec, result.Local); err != nil {
		return model.ImageResult{}, err
	}
	if spec.OutputsImageRefTo != "" {
		ref, err := readOutputRef(outputFile(spec))
		if err != nil {
			return model.ImageResult{}, err
		}
		result.Local, result.Cluster = ref, toCluster(ref, req.Registry)
	}
	deliversItself := req.Target.Supervised && spec.DisablePush
	if spec.SkipsLocalDocker || deliversItself {
		result, err := b.delivered(ctx, req, result)
		if err != nil {
			return model.ImageResult{}, fmt.Errorf("build %s: %w", req.Target.Ref, err)
		}
		return result, nil
	}
	im, found, err := b.docker.Inspect(ctx, result.Local)
	if err != nil {
		return model.ImageResult{}, notInEngine(req, err)
	}
	if !found {
		return model.ImageResult{}, problem.New(
			fmt.Sprintf("the build command succeeded, but the image %s is not in the engine", result.Local),
			"make the command tag the image as $EXPECTED_REF (quoted for the shell, not by the Tiltfile)\n"+
				"or, if it builds and pushes without this engine, pass skips_local_docker=True to custom_build")
	}
	if spec.OutputsImageRefTo != "" && !req.Target.Supervised {
		result.ImageID = im.ID
		return result, nil
	}
	id, err := b.supervised(ctx, req, im.ID)
	if err != nil {
		return model.ImageResult{}, err
	}
	final, err := b.tagByContent(ctx, req, id)
	final.StartedAt = result.StartedAt
	return final, err
}

// notInEngine is the error of an image that a command has built, where the engine does not answer.
func notInEngine(req Request, err error) error {
	if p, ok := problem.Of(err); ok && docker.IsUnreachable(err) {
		more := *p
		more.Mend += "\nor, if the build command of " + req.Target.Ref + " needs no engine and delivers the image itself, pass skips_local_docker=True to custom_build"
		err = &more
	}
	return fmt.Errorf("build %s: %w", req.Target.Ref, err)
}

// expect fills in the reference that the command has to build, if the command does not choose one itself. For a command with its
// own tag, the registry does not apply.
func (b *Builder) expect(req Request, spec model.CustomBuild, result *model.ImageResult) error {
	if spec.OutputsImageRefTo != "" {
		return nil
	}
	reg, tag := req.Registry, spec.Tag
	if tag != "" {
		reg = model.Registry{}
	} else {
		tag = "hone-build-" + strconv.FormatInt(b.now().Unix(), 10)
	}
	var err error
	if result.Local, err = LocalRef(req.Target.Ref, reg, tag); err != nil {
		return err
	}
	result.Cluster, err = ClusterRef(req.Target.Ref, reg, tag)
	return err
}

// runCommand runs the build command with its environment and streams its output.
func (b *Builder) runCommand(ctx context.Context, req Request, spec model.CustomBuild, expected string) error {
	if spec.OutputsImageRefTo != "" {
		if err := os.Remove(outputFile(spec)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the reference of the last build: %w", err)
		}
	}
	env := expectedEnv(expected, req.Registry)
	if !spec.Command.EchoOff {
		logstore.Infof(req.Logger, "Running cmd: %s", spec.Command)
		for _, kv := range env {
			logstore.Infof(req.Logger, "  %s", kv)
		}
	}
	cmd := spec.Command
	cmd.Env = append(append([]string{}, cmd.Env...), env...)
	cmd.Env = append(cmd.Env, b.docker.Env()...)
	cmd.Env = append(cmd.Env, ImageDepEnv(spec.ImageDeps, req.Deps, func(r model.ImageResult) string { return r.Local })...)
	out := logstore.WriterAt(req.Logger, logstore.LevelInfo)
	err := process.Run(ctx, process.Command{Cmd: cmd, ExtraEnv: req.Env, Stdout: out, Stderr: out})
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("build %s: %w", req.Target.Ref, &CommandError{Command: brief(spec.Command.String()), Err: err})
}

// brief cuts a command to one line of reasonable length.
func brief(command string) string {
	return words.Clip(words.OneLine(command), 80)
}

// expectedEnv returns the variables that name the image that a command must build.
func expectedEnv(expected string, reg model.Registry) []string {
	var env []string
	if named, err := reference.ParseNormalizedNamed(expected); expected != "" && err == nil {
		env = append(env, "EXPECTED_REF="+reference.FamiliarString(named), "EXPECTED_IMAGE="+reference.Path(named))
		if tagged, ok := named.(reference.Tagged); ok {
			env = append(env, "EXPECTED_TAG="+tagged.Tag())
		}
	}
	if !reg.Empty() {
		env = append(env, "EXPECTED_REGISTRY="+reg.Host, "REGISTRY_HOST="+reg.Host)
	}
	return env
}

// ImageDepEnv returns the variables that name the images that a command depends on: TILT_IMAGE_0 is the reference of the
// first, as chosen by pick, and TILT_IMAGE_MAP_0 its reference in the Tiltfile. An image without a result has no
// TILT_IMAGE variable.
func ImageDepEnv(deps []string, results map[string]model.ImageResult, pick func(model.ImageResult) string) []string {
	var env []string
	for i, dep := range deps {
		env = append(env, fmt.Sprintf("TILT_IMAGE_MAP_%d=%s", i, dep))
		if result, ok := results[dep]; ok {
			env = append(env, fmt.Sprintf("TILT_IMAGE_%d=%s", i, pick(result)))
		}
	}
	return env
}

// outputFile returns the absolute path of the file to which the command writes its reference.
func outputFile(spec model.CustomBuild) string {
	if filepath.IsAbs(spec.OutputsImageRefTo) {
		return spec.OutputsImageRefTo
	}
	return filepath.Join(spec.Command.Dir, spec.OutputsImageRefTo)
}

// readOutputRef reads the reference that a command wrote.
func readOutputRef(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", problem.Wrap(err, "the build command did not write the image's reference",
			"make it write one line such as name:tag to "+file)
	}
	text := strings.TrimSpace(string(data))
	named, err := reference.ParseNormalizedNamed(text)
	if err == nil && reference.IsNameOnly(named) {
		err = errors.New("it has no tag")
	}
	if err != nil {
		return "", problem.Wrap(err, fmt.Sprintf("the build command wrote %q to %s, which is not an image reference", words.Clip(text, 200), file),
			"make it write one line such as name:tag")
	}
	return reference.FamiliarString(named), nil
}
