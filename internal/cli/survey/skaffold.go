package survey

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// skaffold is a skaffold.yaml of any version, as far as the survey needs it: from v1beta to v2beta objects are under deploy, later under
// manifests.
type skaffold struct {
	APIVersion string `json:"apiVersion"`
	skaffoldParts
	Profiles []struct {
		Name string `json:"name"`
		skaffoldParts
		Patches any `json:"patches"`
	} `json:"profiles"`
	Requires    any               `json:"requires"`
	PortForward []skaffoldForward `json:"portForward"`
}

// skaffoldForward is a port forward. A port may also be the name of one.
type skaffoldForward struct {
	ResourceName string `json:"resourceName"`
	Port         any    `json:"port"`
	LocalPort    int    `json:"localPort"`
}

// skaffoldParts are the parts that a profile replaces.
type skaffoldParts struct {
	Build struct {
		Artifacts []struct {
			Image   string `json:"image"`
			Context string `json:"context"`
			// Workspace is the context in v1alpha.
			Workspace string `json:"workspace"`
			Docker    struct {
				Dockerfile     string `json:"dockerfile"`
				DockerfilePath string `json:"dockerfilePath"`
			} `json:"docker"`
			Jib, Ko, Buildpacks, Bazel, Custom any
		} `json:"artifacts"`
	} `json:"build"`
	Manifests struct {
		RawYaml   []string `json:"rawYaml"`
		Kustomize struct {
			Paths []string `json:"paths"`
		} `json:"kustomize"`
		Helm helmReleases `json:"helm"`
	} `json:"manifests"`
	Deploy struct {
		Kubectl struct {
			Manifests []string `json:"manifests"`
		} `json:"kubectl"`
		Kustomize struct {
			Path  string   `json:"path"`
			Paths []string `json:"paths"`
		} `json:"kustomize"`
		Helm helmReleases `json:"helm"`
	} `json:"deploy"`
}

type helmReleases struct {
	Releases []struct {
		Name        string   `json:"name"`
		ChartPath   string   `json:"chartPath"`
		RemoteChart string   `json:"remoteChart"`
		ValuesFiles []string `json:"valuesFiles"`
	} `json:"releases"`
}

// skaffold takes the declarations of a skaffold.yaml in the root.
func (l *looker) skaffold() error {
	name := "skaffold.yaml"
	if !l.exists(name) {
		if name = "skaffold.yml"; !l.exists(name) {
			return nil
		}
	}
	if l.declared == nil {
		l.declared = map[string]declaredImage{}
	}
	var forwards []skaffoldForward
	for _, doc := range split(l.read(name)) {
		var s skaffold
		if err := yaml.Unmarshal(doc, &s); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		l.profile(name, &s)
		forwards = append(forwards, s.PortForward...)
		if s.Requires != nil {
			l.note(LeftOut, "%s: requires: give the other configuration a Tiltfile of its own, and include it", name)
		}
		for _, a := range s.Build.Artifacts {
			context := path.Clean(cmp.Or(a.Context, a.Workspace, "."))
			if slices.ContainsFunc([]any{a.Jib, a.Ko, a.Buildpacks, a.Bazel, a.Custom}, func(builder any) bool { return builder != nil }) {
				l.note(LeftOut, "%s: image %s is not built from a Dockerfile: declare it with custom_build", name, a.Image)
				continue
			}
			file := path.Join(context, cmp.Or(a.Docker.Dockerfile, a.Docker.DockerfilePath, "Dockerfile"))
			l.declared[file] = declaredImage{ref: a.Image, context: context}
		}
		for _, pattern := range slices.Concat(s.Manifests.RawYaml, s.Deploy.Kubectl.Manifests) {
			matches, err := fs.Glob(l.files, path.Clean(pattern))
			if err != nil || strings.Contains(pattern, "://") || len(matches) == 0 {
				l.note(LeftOut, "%s: manifests %s", name, pattern)
				continue
			}
			for _, file := range matches {
				list, _, ok := documents(l.read(file))
				if !ok || l.within(file) {
					continue
				}
				l.taken[file] = true
				l.YAML = append(l.YAML, file)
				l.runs(list)
			}
		}
		for _, dir := range slices.Concat(s.Manifests.Kustomize.Paths, s.Deploy.Kustomize.Paths, optional(s.Deploy.Kustomize.Path)) {
			dir = path.Clean(dir)
			if !l.exists(dir) {
				l.note(LeftOut, "%s: kustomization %s", name, dir)
				continue
			}
			l.Kustomize = append(l.Kustomize, dir)
			l.kustomized(dir)
		}
		for _, r := range slices.Concat(s.Manifests.Helm.Releases, s.Deploy.Helm.Releases) {
			if r.ChartPath == "" || !l.exists(r.ChartPath) {
				l.note(LeftOut, "%s: Helm release %s is not of a chart in this project", name, r.Name)
				continue
			}
			c := Chart{Dir: path.Clean(r.ChartPath), Name: r.Name}
			for _, v := range r.ValuesFiles {
				c.Values = append(c.Values, path.Clean(v))
			}
			l.Charts = append(l.Charts, c)
			l.taken[c.Dir] = true
		}
	}
	l.deployedBy = name
	l.note(Found, "%s: its images and manifests", name)
	for i := range l.Workloads {
		w := &l.Workloads[i]
		for _, f := range forwards {
			incomplete := w.Port == 0 || w.Local == 0
			if port, err := strconv.Atoi(fmt.Sprint(f.Port)); err == nil && incomplete && f.ResourceName == w.Name {
				w.Port, w.Local = port, cmp.Or(f.LocalPort, port)
			}
		}
	}
	return nil
}

// profile asks which profile to use, and lets it replace the parts that it holds. Without an answer no profile is used.
func (l *looker) profile(name string, s *skaffold) {
	if len(s.Profiles) == 0 {
		return
	}
	options := []string{"no profile"}
	for _, p := range s.Profiles {
		options = append(options, p.Name)
	}
	n := l.answer(Question{"Which profile of " + name + " is for development?", options})
	for i, p := range s.Profiles {
		if i+1 != n {
			l.note(LeftOut, "%s: profile %s", name, p.Name)
			continue
		}
		if p.Patches != nil {
			l.note(LeftOut, "%s: the patches of profile %s", name, p.Name)
		}
		if len(p.Build.Artifacts) > 0 {
			s.Build = p.Build
		}
		if len(p.Manifests.RawYaml)+len(p.Manifests.Kustomize.Paths)+len(p.Manifests.Helm.Releases) > 0 {
			s.Manifests = p.Manifests
		}
		if d := p.Deploy; len(d.Kubectl.Manifests)+len(d.Kustomize.Paths)+len(d.Helm.Releases) > 0 || d.Kustomize.Path != "" {
			s.Deploy = d
		}
	}
}

func optional(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
