package dockercompose

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// composeProject is a project as declared by all calls of docker_compose for its name.
type composeProject struct {
	model.ComposeProject
	// site is the place of the first call.
	site     fault.Site
	loaded   *compose.Project
	files    []string
	profiles []string // as given, nil when none are
}

// composeArgs are the arguments of one call.
type composeArgs struct {
	files    []model.ComposeFile
	envFile  string
	name     string
	profiles value.Texts
	wait     value.Bool
}

func (d *Declarations) dockerCompose(c *eval.Call) (starlark.Value, error) {
	var a composeArgs
	var paths starlark.Value
	if err := c.Unpack("configPaths", &paths, "env_file??", &a.envFile, "project_name??", &a.name,
		"profiles??", &a.profiles, "wait??", &a.wait); err != nil {
		return nil, err
	}
	for _, e := range value.OneOrMany(paths) {
		f, err := composeFile(c, e)
		if err != nil {
			return nil, err
		}
		if f.Path != "" || f.Source != "" {
			a.files = append(a.files, f)
		}
	}
	if a.envFile != "" {
		a.envFile = c.Abs(a.envFile)
	}
	return nil, d.call(c, a)
}

// composeFile takes one element of configPaths; None yields an empty file.
func composeFile(c *eval.Call, v starlark.Value) (model.ComposeFile, error) {
	if v == starlark.None {
		return model.ComposeFile{}, nil
	}
	var t value.Text
	if err := t.Unpack(v); err != nil {
		return model.ComposeFile{}, fmt.Errorf("configPaths: got %s, want the path of a file, a blob, or a list of these", v.Type())
	}
	switch {
	case t.IsBlob:
		return model.ComposeFile{Content: t.Value, Source: t.Source}, nil
	case t.Value == "":
		return model.ComposeFile{}, errors.New("configPaths: a path is empty")
	case strings.Contains(t.Value, "\n"):
		return model.ComposeFile{}, errors.New("configPaths: a string is the path of a file; wrap text in blob(…)")
	case strings.Contains(t.Value, "://"):
		return model.ComposeFile{}, problem.New(fmt.Sprintf("%s is not a file, and URLs are not fetched", t.Value),
			fmt.Sprintf("docker_compose(local('curl -fsSL %s'))", t.Value))
	}
	return model.ComposeFile{Path: c.Abs(t.Value)}, nil
}

// call adds a call to its project, and rereads the project. The project is read at once instead of at the end, since
// the Tiltfile may change the environment in between.
func (d *Declarations) call(c *eval.Call, a composeArgs) error {
	o := compose.Options{Files: a.files, Base: c.Dir(), Name: a.name, Profiles: a.profiles.Values, Env: c.Env.Map(), Read: func(path string) ([]byte, error) { return readComposeFile(c.Evaluation, path) }}
	if a.envFile != "" {
		o.EnvFiles = []string{a.envFile}
	}
	src, err := compose.Open(o)
	if err != nil {
		return explainCompose(err)
	}
	p := d.project(src.Project.Name)
	if p == nil {
		p = &composeProject{site: c.Site()}
	} else if src, err = compose.Open(p.merged(o, src)); err != nil {
		return explainCompose(err)
	}
	loaded, err := src.Load(c.Context)
	if err != nil {
		return explainCompose(err)
	}
	wait := p.Wait
	if a.wait.IsSet {
		wait = a.wait.Value
	}
	if p.loaded == nil {
		d.projects = append(d.projects, p)
	}
	p.ComposeProject, p.loaded, p.files = src.Project, loaded, src.Files()
	p.Wait, p.Env = wait, c.Env.Differences()
	if a.profiles.Values != nil {
		p.profiles = value.AppendNew(p.profiles, a.profiles.Values)
		if p.profiles == nil {
			p.profiles = []string{}
		}
	}
	if unset := src.Unset(); len(unset) > 0 {
		c.Warn(c.Site(), "docker_compose: unset variables in the Compose files count as empty: %s", hint.Quoted(unset))
	}
	return nil
}

// merged returns the options of a project merged with the options of another call: files and profiles are added; an
// env file replaces the earlier one.
func (p *composeProject) merged(o compose.Options, src *compose.Source) compose.Options {
	o.Name = p.Name
	more := src.Project.Files
	o.Files = slices.Clone(p.Files)
	for _, f := range more {
		if !slices.Contains(o.Files, f) {
			o.Files = append(o.Files, f)
		}
	}
	if o.EnvFiles == nil {
		o.EnvFiles = p.EnvFiles
	}
	if p.profiles != nil || o.Profiles != nil {
		o.Profiles = value.AppendNew(append([]string{}, p.profiles...), o.Profiles)
	}
	return o
}

func (d *Declarations) project(name string) *composeProject {
	for _, p := range d.projects {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// readComposeFile reads a file of a project, with a hint where it is missing.
func readComposeFile(e *eval.Evaluation, path string) ([]byte, error) {
	data, err := e.ReadFile(path)
	switch {
	case err == nil:
		return data, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &missingFile{fmt.Sprintf("there is no file %s%s", path, e.Sibling(path))}
	}
	return nil, e.Unreadable(path, err)
}

// missingFile reports that a file does not exist.
type missingFile struct{ msg string }

// Error returns the message.
func (m *missingFile) Error() string { return m.msg }

// Is makes the error one of fs.ErrNotExist.
func (m *missingFile) Is(target error) bool { return target == fs.ErrNotExist }

// explainCompose adds the correction, which package compose does not know: the key that was probably meant.
func explainCompose(err error) error {
	if errors.Is(err, compose.ErrNoFiles) {
		return errors.New("configPaths names no Compose file, and COMPOSE_FILE is not set")
	}
	var e *compose.Error
	if errors.As(err, &e) && e.Unknown != "" {
		return fmt.Errorf("%w%s", err, hint.DidYouMean(e.Unknown, e.Known))
	}
	return err
}
