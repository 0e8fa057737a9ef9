package survey

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/yamltext"
)

// devspace is a devspace.yaml, as far as the survey needs it. In v2beta1 images, deployments and dev are maps; before, they were a map
// and lists.
type devspace struct {
	Version string `json:"version"`
	Images  map[string]struct {
		Image      string `json:"image"`
		Context    string `json:"context"`
		Dockerfile string `json:"dockerfile"`
		Custom     any    `json:"custom"`
	} `json:"images"`
	Deployments  any `json:"deployments"`
	Dev          any `json:"dev"`
	Vars         any `json:"vars"`
	Profiles     any `json:"profiles"`
	Hooks        any `json:"hooks"`
	Commands     any `json:"commands"`
	Dependencies any `json:"dependencies"`
}

// devspaceDeployment is a deployment of any version.
type devspaceDeployment struct {
	Name    string `json:"name"`
	Kubectl *struct {
		Manifests []string `json:"manifests"`
		Kustomize bool     `json:"kustomize"`
	} `json:"kubectl"`
	Helm *struct {
		Chart struct {
			Name string `json:"name"`
			Path string `json:"path"`
			Repo string `json:"repo"`
		} `json:"chart"`
		ComponentChart bool     `json:"componentChart"`
		ValuesFiles    []string `json:"valuesFiles"`
	} `json:"helm"`
}

// devspace takes the declarations of a devspace.yaml in the root. Synchronized paths follow from the Dockerfiles, as for every
// image.
func (l *looker) devspace() error {
	name := "devspace.yaml"
	if !l.exists(name) {
		return nil
	}
	var d devspace
	if err := yaml.Unmarshal(l.read(name), &d); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if l.declared == nil {
		l.declared = map[string]declaredImage{}
	}
	for _, key := range slices.Sorted(maps.Keys(d.Images)) {
		im := d.Images[key]
		ref := untagged(im.Image)
		switch {
		case ref == "" || strings.Contains(ref, "${"):
			l.note(LeftOut, "%s: image %s, whose name is made of variables", name, key)
		case im.Custom != nil:
			l.note(LeftOut, "%s: image %s is built by a command: declare it with custom_build", name, key)
		default:
			file := path.Clean(cmp.Or(im.Dockerfile, "Dockerfile"))
			l.declared[file] = declaredImage{ref: ref, context: path.Clean(cmp.Or(im.Context, "."))}
		}
	}
	for _, dep := range listed[devspaceDeployment](d.Deployments, func(dep *devspaceDeployment, key string) { dep.Name = key }) {
		l.devspaceDeployment(name, dep)
	}
	for _, left := range []struct {
		what string
		is   any
		use  string
	}{
		{"dev", d.Dev, "syncs follow from the Dockerfiles, ports from the objects; commands and terminals are k8s_resource, docker_build(entrypoint=) and hone shell"},
		{"vars", d.Vars, "use os.environ or config.define_string"}, {"profiles", d.Profiles, "use config.define_string and an if"},
		{"hooks", d.Hooks, "use local_resource"}, {"commands", d.Commands, "use local_resource or a button"}, {"dependencies", d.Dependencies, "use include"},
	} {
		if left.is != nil {
			l.note(LeftOut, "%s: %s: %s", name, left.what, left.use)
		}
	}
	l.deployedBy = name
	l.note(Found, "%s: its images and deployments", name)
	return nil
}

func (l *looker) devspaceDeployment(name string, dep devspaceDeployment) {
	switch {
	case dep.Kubectl != nil && dep.Kubectl.Kustomize:
		for _, dir := range dep.Kubectl.Manifests {
			if dir = path.Clean(dir); !l.exists(dir) {
				l.note(LeftOut, "%s: kustomization %s", name, dir)
				continue
			}
			l.Kustomize = append(l.Kustomize, dir)
			l.kustomized(dir)
		}
	case dep.Kubectl != nil:
		for _, pattern := range dep.Kubectl.Manifests {
			l.devspaceManifests(name, path.Clean(pattern))
		}
	case dep.Helm != nil:
		chart := path.Clean(cmp.Or(dep.Helm.Chart.Path, dep.Helm.Chart.Name))
		if dep.Helm.ComponentChart || dep.Helm.Chart.Repo != "" || !l.exists(path.Join(chart, "Chart.yaml")) {
			l.note(LeftOut, "%s: deployment %s is not of a chart in this project: use the extension helm_resource", name, dep.Name)
			return
		}
		c := Chart{Dir: chart, Name: dep.Name}
		for _, v := range dep.Helm.ValuesFiles {
			c.Values = append(c.Values, path.Clean(v))
		}
		l.Charts = append(l.Charts, c)
		l.taken[chart] = true
	default:
		l.note(LeftOut, "%s: deployment %s", name, dep.Name)
	}
}

// devspaceManifests takes the files of a pattern, or all of a folder.
func (l *looker) devspaceManifests(name, pattern string) {
	if info, err := fs.Stat(l.files, pattern); err == nil && info.IsDir() {
		pattern += "/*"
	}
	matches, err := fs.Glob(l.files, pattern)
	if err != nil || len(matches) == 0 {
		l.note(LeftOut, "%s: manifests %s", name, pattern)
		return
	}
	for _, file := range matches {
		if list, _, ok := documents(l.read(file)); ok && isYAML(file) && !l.within(file) {
			l.taken[file] = true
			l.YAML = append(l.YAML, file)
			l.runs(list)
		}
	}
}

// listed reads a list of named things, or a map of things by their names.
func listed[T any](v any, name func(t *T, key string)) (out []T) {
	as := func(v any) (t T, ok bool) {
		text, err := yamltext.Marshal(v)
		ok = err == nil && yaml.Unmarshal(text, &t) == nil
		return t, ok
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if t, ok := as(e); ok {
				out = append(out, t)
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if t, ok := as(v[key]); ok {
				name(&t, key)
				out = append(out, t)
			}
		}
	}
	return out
}
