package image

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/distribution/reference"
	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/imageref"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/file"
	"github.com/hone-dev/hone/internal/tiltfile/ignore"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// imageArgs are the arguments that docker_build and custom_build share.
type imageArgs struct {
	ref            string
	liveUpdate     starlark.Value
	matchInEnvVars bool
	ignore         value.Texts
	entrypoint     value.Argv
	containerArgs  starlark.Value
}

// newImage makes the part of an image that docker_build and custom_build share.
func newImage(c *eval.Call, a imageArgs) (*Image, error) {
	ref, err := ParseRef(a.ref)
	if err != nil {
		return nil, err
	}
	im := &Image{ref: ref, means: imageref.Select(ref), Builtin: c.Name, Site: c.Site()}
	im.Ref = reference.FamiliarString(ref)
	im.MatchInEnvVars = a.matchInEnvVars
	if len(a.entrypoint.Words) > 0 {
		im.Entrypoint = a.entrypoint.Words
	}
	if a.containerArgs != nil {
		var list value.Texts
		if _, isText := starlark.AsString(a.containerArgs); isText {
			return nil, errors.New("container_args: got string, want list of strings")
		}
		if err := list.Unpack(a.containerArgs); err != nil {
			return nil, fmt.Errorf("container_args: %w", err)
		}
		im.ContainerArgs = &list.Values
	}
	im.LiveUpdate, im.steps, err = ParseLiveUpdate(c, a.liveUpdate)
	return im, err
}

func (d *Declarations) dockerBuild(c *eval.Call) (starlark.Value, error) {
	var a imageArgs
	var context, dockerfile, target, network, platform string
	var buildArgs value.TextMap
	var contents value.Text
	var cache starlark.Value
	var only, ssh, secret, extraTag, cacheFrom, cacheTo, extraHosts value.Texts
	var pull bool
	if err := c.Unpack("ref", &a.ref, "context", &context, "build_args??", &buildArgs, "dockerfile??", &dockerfile,
		"dockerfile_contents??", &contents, "cache??", &cache, "live_update??", &a.liveUpdate,
		"match_in_env_vars??", &a.matchInEnvVars, "ignore??", &a.ignore, "only??", &only, "entrypoint??", &a.entrypoint,
		"container_args??", &a.containerArgs, "target??", &target, "ssh??", &ssh, "secret??", &secret,
		"network??", &network, "extra_tag??", &extraTag, "cache_from??", &cacheFrom, "pull??", &pull,
		"platform??", &platform, "extra_hosts??", &extraHosts, "cache_to??", &cacheTo); err != nil {
		return nil, err
	}
	if cache != nil {
		c.Warn(c.Site(), "docker_build: cache= has no effect any more; use BuildKit's cache mounts in the Dockerfile instead")
	}
	for _, t := range given(extraTag) {
		if _, err := ParseRef(t); err != nil {
			return nil, fmt.Errorf("extra_tag: %w", err)
		}
	}
	im, err := newImage(c, a)
	if err != nil {
		return nil, err
	}
	build := &model.DockerBuild{Target: target, Secrets: given(secret), SSH: given(ssh), Network: network,
		ExtraTags: given(extraTag), Pull: pull, Platform: platform,
		ExtraHosts: given(extraHosts), BuildArgs: nilWhenEmpty(buildArgs.Values)}
	if build.Platform == "" {
		build.Platform = c.Env.Getenv("DOCKER_DEFAULT_PLATFORM")
	}
	im.Docker = build
	if build.CacheFrom, err = cacheFromArgument.parse(c, cacheFrom); err != nil {
		return nil, err
	}
	if build.CacheTo, err = cacheToArgument.parse(c, cacheTo); err != nil {
		return nil, err
	}
	if err := findDockerfile(c, build, context, dockerfile, contents); err != nil {
		return nil, err
	}
	if err := cachesOutside(build); err != nil {
		return nil, err
	}
	im.bases = knownBaseImages(c.Evaluation, build.Contents, build.BuildArgs)
	if err := watchContext(c, im, given(a.ignore), given(only), contents.Value != ""); err != nil {
		return nil, err
	}
	return nil, d.add(im)
}

// given returns the values of an argument without empty ones, which have no meaning: many programs write ssh="".
func given(l value.Texts) []string {
	return slices.DeleteFunc(slices.Clone(l.Values), func(v string) bool { return v == "" })
}

// nilWhenEmpty converts build args: an empty value becomes nil, which takes the value from the environment.
func nilWhenEmpty(args map[string]string) map[string]*string {
	if len(args) == 0 {
		return nil
	}
	out := make(map[string]*string, len(args))
	for k, v := range args {
		out[k] = nil
		if v != "" {
			out[k] = &v
		}
	}
	return out
}

// findDockerfile finds context and Dockerfile. The context need not exist yet, since a resource may create it before
// the image is built; only a Dockerfile in it must exist.
func findDockerfile(c *eval.Call, b *model.DockerBuild, context, path string, contents value.Text) error {
	if contents.Value != "" && path != "" {
		return errors.New("give either dockerfile= or dockerfile_contents=, not both")
	}
	base := c.Dir()
	if context != "-" {
		b.Context = c.Abs(context)
		base = b.Context
		if info, err := os.Stat(b.Context); err == nil && !info.IsDir() {
			c.DependOn(b.Context)
			return fmt.Errorf("context: %s is a file, not a folder", b.Context)
		}
	}
	b.Dockerfile = filepath.Join(base, "Dockerfile")
	if path != "" {
		b.Dockerfile = c.Abs(path)
	}
	if contents.Value != "" {
		b.Contents = contents.Value
		return nil
	}
	data, err := c.ReadFile(b.Dockerfile)
	if err != nil {
		switch {
		case path != "" || !errors.Is(err, os.ErrNotExist):
			return c.Unreadable(b.Dockerfile, err)
		case b.Context != "" && !file.IsDir(b.Context):
			return fmt.Errorf("context: there is no folder %s%s, which should contain the Dockerfile; set dockerfile= if the folder is created later",
				b.Context, c.Sibling(b.Context))
		}
		return fmt.Errorf("there is no Dockerfile in %s%s; name it with dockerfile=", base, c.Sibling(b.Dockerfile))
	}
	b.Contents = string(data)
	return nil
}

// watchContext sets the paths that a docker_build watches, and the paths that it ignores.
func watchContext(c *eval.Call, im *Image, patterns, only []string, inline bool) error {
	b := im.Docker
	if b.Context == "" {
		return nil
	}
	var rules []model.Ignore
	dockerfile := b.Dockerfile
	if inline {
		dockerfile = ""
	}
	if r, ok := ignore.Dockerignore(c.Evaluation, b.Context, dockerfile); ok {
		rules = append(rules, r)
	}
	if len(patterns) > 0 {
		rules = append(rules, model.Ignore{Base: b.Context, Patterns: patterns, Source: "ignore="})
	}
	if len(only) > 0 {
		r, err := ignore.Only(b.Context, only)
		if err != nil {
			return err
		}
		rules = append(rules, r)
		warnMissing(c, b.Context, only)
	}
	b.ContextIgnores = rules
	im.Watch = model.WatchSpec{Paths: []string{b.Context}, Ignores: slices.Clone(rules)}
	if !inline {
		im.Watch.Ignores = append(im.Watch.Ignores, ignore.File(b.Dockerfile, "Dockerfile"))
	}
	return nil
}

// warnMissing warns of paths in only= that the context does not have. A context that is made later has none yet.
func warnMissing(c *eval.Call, context string, only []string) {
	if !file.IsDir(context) {
		return
	}
	for _, p := range only {
		path := filepath.Clean(p)
		if !filepath.IsAbs(path) {
			path = filepath.Join(context, path)
		}
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			c.DependOn(path)
			c.Warn(c.Site(), "%s: only: there is no %s in the context %s%s, so the image is built without it", c.Name, p, context, c.Sibling(path))
		}
	}
}

func (d *Declarations) customBuild(c *eval.Call) (starlark.Value, error) {
	var a imageArgs
	var command, bat, batVal value.Argv
	var deps, imageDeps value.Texts
	var tag, outputs, dir string
	var disablePush, skipsDocker, depsComplete bool
	var env value.TextMap
	if err := c.Unpack("ref", &a.ref, "command", &command, "deps", &deps, "tag??", &tag, "disable_push??", &disablePush,
		"skips_local_docker??", &skipsDocker, "live_update??", &a.liveUpdate, "match_in_env_vars??", &a.matchInEnvVars,
		"ignore??", &a.ignore, "entrypoint??", &a.entrypoint, "container_args??", &a.containerArgs,
		"command_bat_val??", &batVal, "outputs_image_ref_to??", &outputs, "command_bat??", &bat,
		"image_deps??", &imageDeps, "env??", &env, "dir??", &dir, "deps_complete??", &depsComplete); err != nil {
		return nil, err
	}
	elsewhere := disablePush || skipsDocker || tag+outputs != ""
	switch {
	case len(command.Words) == 0:
		return nil, errors.New("the command is empty")
	case tag != "" && outputs != "":
		return nil, errors.New("give either tag= or outputs_image_ref_to=, not both")
	case len(bat.Words) > 0 && len(batVal.Words) > 0:
		return nil, errors.New("command_bat_val= is the old name of command_bat=: give one of them")
	case depsComplete && elsewhere:
		return nil, errors.New("deps_complete=True needs a command that builds $EXPECTED_REF in the engine, " +
			"so it cannot be combined with tag=, outputs_image_ref_to=, disable_push= and skips_local_docker=")
	}
	for _, ref := range imageDeps.Values {
		if _, err := ParseRef(ref); err != nil {
			return nil, fmt.Errorf("image_deps: %w", err)
		}
	}
	im, err := newImage(c, a)
	if err != nil {
		return nil, err
	}
	im.Custom = &model.CustomBuild{Command: c.Cmd(command, dir, env, false), Tag: tag, DisablePush: disablePush,
		SkipsLocalDocker: skipsDocker, ImageDeps: imageDeps.Values, DepsComplete: depsComplete}
	if outputs != "" {
		im.Custom.OutputsImageRefTo = c.Abs(outputs)
	}
	im.bases = imageDeps.Values
	im.Watch.Paths = c.AbsAll(deps.Values)
	for _, path := range im.Watch.Paths {
		base := ignore.FolderOf(path)
		if base == path {
			if r, ok := ignore.Dockerignore(c.Evaluation, base, ""); ok {
				im.Watch.Ignores = append(im.Watch.Ignores, r)
			}
		}
		if len(a.ignore.Values) > 0 {
			im.Watch.Ignores = append(im.Watch.Ignores, model.Ignore{Base: base, Patterns: a.ignore.Values, Source: "ignore="})
		}
	}
	return nil, d.add(im)
}

func (d *Declarations) defaultRegistry(c *eval.Call) (starlark.Value, error) {
	var r model.Registry
	if err := c.Unpack("host", &r.Host, "host_from_cluster??", &r.HostFromCluster, "single_name??", &r.SingleName); err != nil {
		return nil, err
	}
	if d.Registry != nil {
		return nil, fmt.Errorf("the default registry is already %s", d.Registry.Host)
	}
	if d.Builder != nil && d.Builder.Pod.Registry {
		return nil, errTwoRegistries
	}
	for _, host := range []string{r.Host, r.HostFromCluster} {
		if host == "" {
			continue
		}
		if err := checkRegistry(host); err != nil {
			return nil, err
		}
	}
	d.Registry = &r
	return nil, nil
}

func checkRegistry(host string) error {
	if _, err := reference.ParseNamed(host + "/image"); err != nil {
		return fmt.Errorf("%q is not the name of a registry, such as \"localhost:5000\" or \"gcr.io/project\"", host)
	}
	return nil
}

func (d *Declarations) imageCache(c *eval.Call) (starlark.Value, error) {
	cache := model.ImageCache{Push: true}
	if err := c.Unpack("registry", &cache.Registry.Host, "push??", &cache.Push); err != nil {
		return nil, err
	}
	if d.Cache != nil {
		return nil, fmt.Errorf("the image cache is already %s", d.Cache.Registry.Host)
	}
	if err := checkRegistry(cache.Registry.Host); err != nil {
		return nil, err
	}
	d.Cache = &cache
	return nil, nil
}
