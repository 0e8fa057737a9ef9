// Package survey looks at the files of a project and finds the parts of a Tiltfile for it: images, objects, services of Compose,
// local processes. It is a pure function of the files: it runs nothing and asks no cluster.
package survey

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Project lists the findings in a folder. All paths are relative to it, with slashes.
type Project struct {
	// Compose are the Compose files of the root.
	Compose []string
	// YAML are files with objects, Kustomize folders with a kustomization, and Charts are Helm charts.
	YAML      []string
	Kustomize []string
	Charts    []Chart
	Images    []Image
	// EnvSecrets are the Secrets that are made of files with an environment.
	EnvSecrets []EnvSecret
	// Workloads are the workloads that are in YAML files, by name.
	Workloads []Workload
	Locals    []Local
	Notes     []Note
	// Written are the contents of files that the Tiltfile needs and that are not there yet, by their paths.
	Written map[string]string
}

// Chart is a Helm chart with the values files for development.
type Chart struct {
	Dir    string
	Name   string
	Values []string
}

// EnvSecret is a Secret with the variables of a file.
type EnvSecret struct {
	Name, File string
}

// Local is a process of this machine.
type Local struct {
	Name, Serve, Dir string
}

// Note is something to tell the user.
type Note struct {
	Kind NoteKind
	Text string
}

// NoteKind is the subject of a note.
type NoteKind string

// The kinds of notes.
const (
	Found   NoteKind = "found"
	Guessed NoteKind = "guessed"
	LeftOut NoteKind = "left out"
)

// Empty reports whether nothing was found that a Tiltfile could declare.
func (p Project) Empty() bool {
	return len(p.Compose)+len(p.YAML)+len(p.Kustomize)+len(p.Charts)+len(p.Images)+len(p.Locals) == 0
}

const (
	// mostFiles bounds the number of files that are looked at, and mostDepth the depth of folders.
	mostFiles, mostDepth = 20_000, 8
	// mostBytes bounds the part of a file that is read: manifests with CRDs have a few megabytes.
	mostBytes = 8 << 20
)

// skipped are folders with built or downloaded files.
var skipped = []string{"node_modules", "vendor", "target", "dist", "build", "out", "bin", "obj", "venv", "__pycache__", "testdata"}

// Question is a choice that the files of a project leave open. The first option is the guess that is used without an answer.
type Question struct {
	Text    string
	Options []string
}

// The options of the question about Compose.
const (
	KeepCompose         = "with docker compose, in the container engine"
	ComposeToKubernetes = "in the cluster, as objects that are made of them"
)

// Answer returns the number of the chosen option. It must be one of the question's.
type Answer func(Question) int

// Look looks at the files of a project, and asks the questions that they leave open.
func Look(files fs.FS, answer Answer) (Project, error) {
	l := &looker{files: files, taken: map[string]bool{}, answer: answer}
	if err := l.walk(); err != nil {
		return Project{}, err
	}
	l.compose()
	if len(l.Compose) > 0 {
		kept := Question{"How do the services of " + l.Compose[0] + " run?", []string{KeepCompose, ComposeToKubernetes}}
		if kept.Options[l.answer(kept)] == ComposeToKubernetes {
			if err := l.composeObjects(); err != nil {
				return Project{}, err
			}
		} else {
			l.note(Found, "%s: its services run in the container engine, as with docker compose", l.Compose[0])
		}
	}
	if err := l.skaffold(); err != nil {
		return Project{}, err
	}
	if err := l.devspace(); err != nil {
		return Project{}, err
	}
	// If another tool deploys the project, its objects are the project's objects; otherwise all objects in the files are.
	if len(l.YAML)+len(l.Kustomize)+len(l.Charts) == 0 || l.deployedBy == "" {
		l.charts()
		l.kustomizations()
		l.manifests()
	} else {
		l.others()
	}
	l.images()
	l.match()
	if slices.ContainsFunc(l.Images, func(im Image) bool { return len(im.Live) > 0 }) {
		live := Question{"How do saved files get into running containers?", []string{"by live updates, in place", "by new images"}}
		if l.answer(live) == 1 {
			for i := range l.Images {
				im := &l.Images[i]
				im.Live, im.Restart, im.Target, im.Entrypoint, im.Why = nil, false, "", nil, ""
			}
		}
	}
	l.processes()
	return l.Project, nil
}

// looker builds a project.
type looker struct {
	Project
	files fs.FS
	// all are the paths of all files, sorted.
	all []string
	// taken are the files and folders that belong to something found already.
	taken  map[string]bool
	answer Answer
	// deployedBy is the configuration file of another tool that deploys the project.
	deployedBy string
	// declared are the images that another tool's configuration names, by their Dockerfile.
	declared map[string]declaredImage
	// unsetEnv are services of Compose with those variables of theirs whose values are left out.
	unsetEnv map[[2]string]bool
}

func (l *looker) note(kind NoteKind, format string, args ...any) {
	l.Notes = append(l.Notes, Note{kind, fmt.Sprintf(format, args...)})
}

var errEnough = errors.New("enough files")

func (l *looker) walk() error {
	err := fs.WalkDir(l.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() && name != "." {
				return fs.SkipDir // a folder that may not be read
			}
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			unread := strings.HasPrefix(base, ".") || slices.Contains(skipped, base)
			if name != "." && (unread || strings.Count(name, "/") >= mostDepth) {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			l.all = append(l.all, name)
		}
		if len(l.all) >= mostFiles {
			l.note(LeftOut, "files beyond the first %d", mostFiles)
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return err
}

// read returns the content of a file; empty if it cannot be read or is too large.
func (l *looker) read(name string) []byte {
	info, err := fs.Stat(l.files, name)
	if err != nil || info.Size() > mostBytes {
		return nil
	}
	content, err := fs.ReadFile(l.files, name)
	if err != nil {
		return nil
	}
	return content
}

func (l *looker) exists(name string) bool {
	_, err := fs.Stat(l.files, name)
	return err == nil
}

// within reports whether a file lies in something that was taken.
func (l *looker) within(name string) bool {
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if l.taken[dir] {
			return true
		}
	}
	return false
}

// compose takes the Compose files of the root. An override is read by Compose together with its file.
func (l *looker) compose() {
	for _, name := range []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"} {
		if !l.exists(name) {
			continue
		}
		l.Compose = append(l.Compose, name)
		l.taken[name] = true
		stem := strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".yml")
		for _, override := range []string{stem + ".override.yaml", stem + ".override.yml"} {
			if l.exists(override) {
				l.Compose = append(l.Compose, override)
				l.taken[override] = true
			}
		}
		l.services(name)
		return
	}
}

// services records the images of services that are built from the project and have a name, as images that objects use.
func (l *looker) services(file string) {
	var c struct {
		Services map[string]struct {
			Image string `json:"image"`
			Build any    `json:"build"`
		} `json:"services"`
	}
	if err := yaml.Unmarshal(l.read(file), &c); err != nil {
		l.note(LeftOut, "%s: it is no YAML", file)
		l.Compose = nil
		return
	}
	l.declared = map[string]declaredImage{}
	for _, name := range slices.Sorted(maps.Keys(c.Services)) {
		s := c.Services[name]
		if s.Image == "" || s.Build == nil {
			continue
		}
		context, dockerfile := ".", "Dockerfile"
		switch b := s.Build.(type) {
		case string:
			context = b
		case map[string]any:
			context, dockerfile = cmp.Or(text(b["context"]), "."), cmp.Or(text(b["dockerfile"]), dockerfile)
		}
		l.declared[path.Join(context, dockerfile)] = declaredImage{ref: untagged(s.Image), context: path.Clean(context)}
		l.Workloads = append(l.Workloads, Workload{Name: name, Images: []string{s.Image}})
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
