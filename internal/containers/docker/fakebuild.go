package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	gofs "io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/tonistiigi/fsutil"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// Build implements Client. It parses the Dockerfile and checks that base images and copied files exist. A command such
// as "RUN exit 3" or "RUN false" fails; others succeed.
func (f *Fake) Build(ctx context.Context, req BuildRequest) (string, error) {
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
	if err := checkDockerfile(req); err != nil {
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
func (f *Fake) keep(id string, req BuildRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.images[id]; !ok {
		f.images[id] = Image{ID: id, OS: f.info.OS, Arch: f.info.Arch, TaggedAt: time.Now(), Labels: req.Labels}
		f.bare[id] = bareImage(req.Contents)
	}
	for _, tag := range req.Tags {
		f.tags[fullRef(tag)] = id
	}
}

func (f *Fake) build(ctx context.Context, req BuildRequest) (string, error) {
	files, err := newContextFS(req.Context, req.Ignores, new(gone))
	if err != nil {
		return "", contextProblem(req.Context, err)
	}
	parsed, err := parser.Parse(strings.NewReader(req.Contents))
	if err != nil {
		return "", explain(req, fmt.Errorf("dockerfile parse error: %w", err), nil)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		return "", explain(req, fmt.Errorf("dockerfile parse error: %w", err), nil)
	}
	content := []string{req.Contents, req.Target, fmt.Sprint(req.Labels)}
	for name, value := range req.BuildArgs {
		if value != nil {
			content = append(content, name+"="+*value)
		}
	}
	steps := fakeSteps{req: req, all: stepsOf(stages)}
	for i, stage := range stages {
		steps.begin(!strings.EqualFold(stage.BaseName, "scratch"))
		got, err := f.stage(ctx, req, files, stages[:i], stage, &steps)
		if err != nil {
			return "", err
		}
		content = append(content, got...)
		if req.Target != "" && strings.EqualFold(stage.Name, req.Target) {
			return digestOf(content...), nil
		}
	}
	if req.Target != "" {
		return "", explain(req, fmt.Errorf("target stage %q could not be found", req.Target), nil)
	}
	return digestOf(content...), nil
}

// stage checks one stage and returns the inputs of its image.
func (f *Fake) stage(ctx context.Context, req BuildRequest, files fsutil.FS, before []instructions.Stage, s instructions.Stage, steps *fakeSteps) ([]string, error) {
	base, err := f.base(req, before, s)
	if err != nil {
		return nil, err
	}
	content := []string{base}
	for _, command := range s.Commands {
		step := fmt.Sprint(command)
		steps.begin(isStep(command))
		at := &vertex{name: "[1/1] " + step}
		req.Log.Progress(step, at.name, true)
		switch c := command.(type) {
		case *instructions.CopyCommand:
			if c.From != "" {
				continue
			}
			for _, source := range c.SourcePaths {
				got, err := readSource(ctx, files, source)
				if errors.Is(err, os.ErrNotExist) {
					return nil, explain(req, fmt.Errorf("%q not found", "/"+source), at)
				}
				if err != nil {
					return nil, err
				}
				content = append(content, got...)
			}
		case *instructions.RunCommand:
			if code := shellCode(strings.Join(c.CmdLine, " ")); code != 0 {
				return nil, explain(req, fmt.Errorf("exit code: %d", code), at)
			}
		}
	}
	return content, nil
}

// fakeSteps counts the steps of a build that have begun.
type fakeSteps struct {
	req        BuildRequest
	begun, all int
}

func (s *fakeSteps) begin(isStep bool) {
	if isStep {
		s.begun++
		s.req.step(s.begun, s.all)
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
func (f *Fake) base(req BuildRequest, before []instructions.Stage, s instructions.Stage) (string, error) {
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
		return "", explain(req, fmt.Errorf("%s: pull access denied, repository does not exist", s.BaseName),
			&vertex{name: "[internal] load metadata for " + fullRef(s.BaseName)})
	}
	return id, nil
}

// readSource returns names and contents of the files at source, a file or folder of the context.
func readSource(ctx context.Context, files fsutil.FS, source string) ([]string, error) {
	source = strings.TrimPrefix(path.Clean("/"+source), "/")
	var out []string
	found := source == ""
	err := files.Walk(ctx, "/", func(name string, entry gofs.DirEntry, err error) error {
		if err != nil || source != "" && name != source && !strings.HasPrefix(name, source+"/") {
			return err
		}
		found = true
		if entry.IsDir() {
			return nil
		}
		r, err := files.Open(name)
		if err != nil {
			return err
		}
		defer r.Close()
		data, err := io.ReadAll(r)
		out = append(out, name, string(data))
		return err
	})
	if err == nil && !found {
		err = os.ErrNotExist
	}
	return out, err
}
