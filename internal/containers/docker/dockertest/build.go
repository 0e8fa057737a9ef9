package dockertest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/containers/docker"
)

// Build implements Client. It parses the Dockerfile and checks that base images and copied files exist. A command such
// as "RUN exit 3" or "RUN false" fails; others succeed.
func (f *Fake) Build(ctx context.Context, req docker.BuildRequest) (string, error) {
	if err := f.begin(ctx, "Build"); err != nil {
		return "", err
	}
	if req.Log == nil {
		req.Log = logstore.Discard
	}
	f.mu.Lock()
	f.builds = append(f.builds, req)
	f.mu.Unlock()
	if f.OnBuild != nil {
		id, err := f.OnBuild(ctx, req)
		if err == nil {
			f.keep(id, req)
		}
		return id, err
	}
	if err := req.Check(); err != nil {
		return "", err
	}
	id, err := f.build(ctx, req)
	if err != nil {
		return "", err
	}
	f.keep(id, req)
	return id, nil
}

// keep adds a built image to the engine's images.
func (f *Fake) keep(id string, req docker.BuildRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.images[id]; !ok {
		f.images[id] = docker.Image{ID: id, OS: f.info.OS, Arch: f.info.Arch, TaggedAt: time.Now(), Labels: req.Labels}
		f.bare[id] = bareImage(req.Contents)
	}
	for _, tag := range req.Tags {
		f.tags[fullRef(tag)] = id
	}
}

func (f *Fake) build(ctx context.Context, req docker.BuildRequest) (string, error) {
	files, err := contextOf(ctx, req)
	if err != nil {
		return "", err
	}
	parsed, err := parser.Parse(strings.NewReader(req.Contents))
	if err != nil {
		return "", docker.Explain(req, fmt.Errorf("dockerfile parse error: %w", err), nil)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		return "", docker.Explain(req, fmt.Errorf("dockerfile parse error: %w", err), nil)
	}
	content := []string{req.Contents, req.Target, fmt.Sprint(req.Labels)}
	for name, value := range req.BuildArgs {
		if value != nil {
			content = append(content, name+"="+*value)
		}
	}
	steps := progress{req: req, all: stepsOf(stages)}
	for i, stage := range stages {
		steps.begin(!strings.EqualFold(stage.BaseName, "scratch"))
		got, err := f.stage(req, files, stages[:i], stage, &steps)
		if err != nil {
			return "", err
		}
		content = append(content, got...)
		if req.Target != "" && strings.EqualFold(stage.Name, req.Target) {
			return digestOf(content...), nil
		}
	}
	if req.Target != "" {
		return "", docker.Explain(req, fmt.Errorf("target stage %q could not be found", req.Target), nil)
	}
	return digestOf(content...), nil
}

// stage checks one stage and returns the inputs of its image.
func (f *Fake) stage(req docker.BuildRequest, files fileContents, before []instructions.Stage, s instructions.Stage, steps *progress) ([]string, error) {
	base, err := f.base(req, before, s)
	if err != nil {
		return nil, err
	}
	content := []string{base}
	for _, command := range s.Commands {
		step := fmt.Sprint(command)
		steps.begin(isStep(command))
		at := &docker.Step{Name: "[1/1] " + step}
		req.Log.Progress(step, at.Name, true)
		switch c := command.(type) {
		case *instructions.CopyCommand:
			if c.From != "" {
				continue
			}
			for _, source := range c.SourcePaths {
				got, found := files.below(source)
				if !found {
					return nil, docker.Explain(req, fmt.Errorf("%q not found", "/"+source), at)
				}
				content = append(content, got...)
			}
		case *instructions.RunCommand:
			if code := shellCode(strings.Join(c.CmdLine, " ")); code != 0 {
				return nil, docker.Explain(req, fmt.Errorf("exit code: %d", code), at)
			}
		}
	}
	return content, nil
}

// progress counts the steps of a build that have begun.
type progress struct {
	req        docker.BuildRequest
	begun, all int
}

func (s *progress) begin(isStep bool) {
	if isStep {
		s.begun++
		if s.req.OnStep != nil {
			s.req.OnStep(s.begun, s.all)
		}
	}
}

// stepsOf returns how many steps stages have.
func stepsOf(stages []instructions.Stage) (n int) {
	for _, s := range stages {
		if !strings.EqualFold(s.BaseName, "scratch") {
			n++
		}
		for _, c := range s.Commands {
			if isStep(c) {
				n++
			}
		}
	}
	return n
}

// isStep reports whether BuildKit numbers a command: those that only change the image's configuration have no number.
func isStep(c instructions.Command) bool {
	switch c.(type) {
	case *instructions.RunCommand, *instructions.CopyCommand, *instructions.AddCommand, *instructions.WorkdirCommand:
		return true
	}
	return false
}

// base returns the id of the stage's base image.
func (f *Fake) base(req docker.BuildRequest, before []instructions.Stage, s instructions.Stage) (string, error) {
	if s.BaseName == "scratch" {
		return "", nil
	}
	for _, b := range before {
		if strings.EqualFold(b.Name, s.BaseName) {
			return "", nil
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	id, ok := f.lookup(s.BaseName)
	if !ok && !strings.Contains(s.BaseName, "$") {
		return "", docker.Explain(req, fmt.Errorf("%s: pull access denied, repository does not exist", s.BaseName),
			&docker.Step{Name: "[internal] load metadata for " + fullRef(s.BaseName)})
	}
	return id, nil
}

// fileContents maps the names in a build context to the contents of its files. A folder has nil.
type fileContents map[string][]byte

// contextOf reads the files of a build context.
func contextOf(ctx context.Context, req docker.BuildRequest) (fileContents, error) {
	files := fileContents{}
	err := docker.EachContextFile(ctx, req.Context, req.Ignores, func(f docker.ContextFile) error {
		if !f.Mode.IsRegular() {
			files[f.Name] = nil
			return nil
		}
		data, err := os.ReadFile(filepath.Join(req.Context, f.Name))
		files[f.Name] = data
		return err
	})
	return files, err
}

// below returns names and contents of the files at source, a file or folder of the context.
func (c fileContents) below(source string) (content []string, found bool) {
	source = strings.TrimPrefix(path.Clean("/"+source), "/")
	found = source == ""
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if !contains(source, name) {
			continue
		}
		found = true
		if data := c[name]; data != nil {
			content = append(content, name, string(data))
		}
	}
	return content, found
}

// contains reports whether a name is a folder's, or of something in the folder. The context itself has an empty name.
func contains(folder, name string) bool {
	return folder == "" || name == folder || strings.HasPrefix(name, folder+"/")
}
