package survey

import (
	"bufio"
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Workload is an object that runs containers.
type Workload struct {
	Name string
	// Images are the images of its containers, and Port is the first port that one of them declares; 0 for none.
	Images []string
	Port   int
	// Local is the port of this machine that leads there, if it is known, and After are the workloads that it needs.
	Local int
	After []string
}

// object is an object, as far as the survey needs it.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		podSpec
		Template    template `json:"template"`
		JobTemplate struct {
			Spec struct {
				Template template `json:"template"`
			} `json:"spec"`
		} `json:"jobTemplate"`
	} `json:"spec"`
	Items []object `json:"items"`
}

type template struct {
	Spec podSpec `json:"spec"`
}

type podSpec struct {
	Containers     []container `json:"containers"`
	InitContainers []container `json:"initContainers"`
}

type container struct {
	Image string `json:"image"`
	Ports []struct {
		ContainerPort int `json:"containerPort"`
	} `json:"ports"`
}

// workload returns the images and the port of the pods that an object creates; ok is false if it creates none.
func (o object) workload() (w Workload, ok bool) {
	w.Name = o.Metadata.Name
	for _, spec := range []podSpec{o.Spec.podSpec, o.Spec.Template.Spec, o.Spec.JobTemplate.Spec.Template.Spec} {
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			w.Images = append(w.Images, c.Image)
		}
		for _, c := range spec.Containers {
			if w.Port == 0 && len(c.Ports) > 0 {
				w.Port = c.Ports[0].ContainerPort
			}
		}
	}
	return w, len(w.Images) > 0
}

// documents parses a YAML file with objects. ok is false for a file without objects. why is the fault in a file that looks as if it
// held objects.
func documents(content []byte) (list []object, why string, ok bool) {
	for _, doc := range split(content) {
		var o object
		if err := yaml.Unmarshal(doc, &o); err != nil {
			if bytes.Contains(doc, []byte("apiVersion:")) && bytes.Contains(doc, []byte("kind:")) {
				return nil, "it is no YAML, maybe a template", false
			}
			return nil, "", false
		}
		if o.APIVersion == "" || o.Kind == "" {
			return nil, "", false
		}
		list = append(list, o)
		list = append(list, o.Items...)
	}
	return list, "", len(list) > 0
}

// split returns the documents of a YAML file that are not empty.
func split(content []byte) (docs [][]byte) {
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		doc, err := r.Read()
		if err != nil {
			return docs // the end: bytes in memory can always be read
		}
		if len(bytes.TrimSpace(doc)) > 0 {
			docs = append(docs, doc)
		}
	}
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// manifests takes the YAML files with objects that nothing else has taken.
func (l *looker) manifests() {
	for _, name := range l.all {
		if !isYAML(name) || l.within(name) {
			continue
		}
		list, why, ok := documents(l.read(name))
		switch {
		case why != "":
			l.note(LeftOut, "%s: %s", name, why)
			continue
		case !ok || foreign(list[0].APIVersion):
			continue
		}
		l.taken[name] = true
		l.YAML = append(l.YAML, name)
		l.runs(list)
	}
	if n := len(l.YAML); n > 0 {
		l.note(Found, "objects in %s", some(l.YAML))
	}
}

// others notes the objects that the configuration of another tool does not name.
func (l *looker) others() {
	var left []string
	for _, name := range l.all {
		if isYAML(name) && !l.within(name) {
			if list, _, ok := documents(l.read(name)); ok && !foreign(list[0].APIVersion) {
				left = append(left, name)
			}
		}
	}
	if len(left) > 0 {
		l.note(LeftOut, "objects in %s, which %s does not deploy", some(left), l.deployedBy)
	}
}

// foreign reports whether an API version belongs to a tool's configuration.
func foreign(version string) bool {
	group, _, _ := strings.Cut(version, "/")
	return slices.Contains([]string{"skaffold", "kustomize.config.k8s.io", "kind.x-k8s.io", "k3d.io", "client.authentication.k8s.io", "kubeadm.k8s.io", "backstage.io", "ctlptl.dev"}, group)
}

// runs records the workloads of objects.
func (l *looker) runs(list []object) {
	for _, o := range list {
		w, ok := o.workload()
		if !ok || slices.ContainsFunc(l.Workloads, func(known Workload) bool { return known.Name == w.Name }) {
			continue
		}
		l.Workloads = append(l.Workloads, w)
	}
}

// some names the first of a list.
func some(list []string) string {
	if len(list) > 4 {
		return strings.Join(list[:3], ", ") + " and " + strconv.Itoa(len(list)-3) + " more"
	}
	return strings.Join(list, ", ")
}

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// kustomization is a kustomization file, as far as the survey needs it.
type kustomization struct {
	Resources  []string `json:"resources"`
	Bases      []string `json:"bases"`
	Components []string `json:"components"`
	Images     []struct {
		Name    string `json:"name"`
		NewName string `json:"newName"`
	} `json:"images"`
}

// kustomizations takes one kustomization: the one for development, among those that no other kustomization refers to.
func (l *looker) kustomizations() {
	all, dirs := l.allKustomizations()
	referred := map[string]bool{}
	for dir, k := range all {
		for _, r := range slices.Concat(k.Resources, k.Bases, k.Components) {
			referred[path.Join(dir, r)] = true
		}
	}
	var tops []string
	for _, dir := range dirs {
		l.taken[dir] = dir != "."
		if !referred[dir] {
			tops = append(tops, dir)
		}
		l.refers(dir, all)
	}
	chosen := l.chosen("kustomization", tops)
	if chosen == "" {
		return
	}
	l.Kustomize = append(l.Kustomize, chosen)
	l.note(Found, "kustomization %s", chosen)
	l.built(chosen, all)
}

// allKustomizations reads all kustomizations that nothing else has taken, and returns them by folder.
func (l *looker) allKustomizations() (all map[string]kustomization, dirs []string) {
	all = map[string]kustomization{}
	for _, name := range l.all {
		if !slices.Contains(kustomizationNames, path.Base(name)) || l.within(name) {
			continue
		}
		var k kustomization
		if err := yaml.Unmarshal(l.read(name), &k); err != nil {
			l.note(LeftOut, "%s: it is no YAML", name)
			continue
		}
		all[path.Dir(name)] = k
		dirs = append(dirs, path.Dir(name))
	}
	return all, dirs
}

// kustomized records the workloads of one kustomization, and takes the files of all.
func (l *looker) kustomized(dir string) {
	all, dirs := l.allKustomizations()
	for _, d := range dirs {
		l.taken[d] = d != "."
		l.refers(d, all)
	}
	l.built(dir, all)
}

// built records the workloads of a kustomization.
func (l *looker) built(dir string, all map[string]kustomization) {
	for _, file := range l.builds(dir, all, nil) {
		if list, _, ok := documents(l.read(file)); ok {
			l.runs(list)
		}
	}
}

// refers marks the files of a kustomization as taken.
func (l *looker) refers(dir string, all map[string]kustomization) {
	for _, r := range all[dir].Resources {
		l.taken[path.Join(dir, r)] = true
	}
	for _, name := range kustomizationNames {
		l.taken[path.Join(dir, name)] = true
	}
}

// builds returns the files that a kustomization is made of.
func (l *looker) builds(dir string, all map[string]kustomization, seen []string) (files []string) {
	if slices.Contains(seen, dir) {
		return nil
	}
	k := all[dir]
	for _, r := range slices.Concat(k.Resources, k.Bases, k.Components) {
		at := path.Join(dir, r)
		if _, is := all[at]; is {
			files = append(files, l.builds(at, all, append(seen, dir))...)
		} else if isYAML(at) {
			files = append(files, at)
		}
	}
	return files
}

// chosen returns the one of several variants that is for development, and notes the others.
func (l *looker) chosen(what string, variants []string) string {
	if len(variants) == 0 {
		return ""
	}
	at := slices.IndexFunc(variants, func(v string) bool {
		return slices.Contains([]string{"dev", "development", "local", "localdev", "minikube", "kind", "skaffold", "tilt"}, path.Base(v))
	})
	// The guess comes first.
	options := slices.Concat(variants[max(at, 0):max(at, 0)+1], variants[:max(at, 0)], variants[max(at, 0)+1:])
	if len(variants) > 1 {
		chosen := options[l.answer(Question{"Which " + what + " is for development?", options})]
		if chosen != options[0] {
			at = slices.Index(variants, chosen)
		}
	}
	at = max(at, 0)
	for i, v := range variants {
		if i != at {
			l.note(LeftOut, "%s %s: %s is used", what, v, variants[at])
		}
	}
	if len(variants) > 1 {
		l.note(Guessed, "%s is the %s for development", variants[at], what)
	}
	return variants[at]
}

// charts takes the Helm charts that are no part of another one.
func (l *looker) charts() {
	for _, name := range l.all {
		dir := path.Dir(name)
		if path.Base(name) != "Chart.yaml" || l.within(name) {
			continue
		}
		var about struct {
			Name string `json:"name"`
			Type string `json:"type"`
		}
		if err := yaml.Unmarshal(l.read(name), &about); err != nil || about.Name == "" {
			l.note(LeftOut, "%s: it names no chart", name)
			continue
		}
		l.taken[dir] = true
		if about.Type == "library" {
			continue
		}
		c := Chart{Dir: dir, Name: about.Name}
		if v := l.values(c); v != "" {
			c.Values = []string{v}
		}
		var values struct {
			Image struct {
				Repository string `json:"repository"`
			} `json:"image"`
		}
		if yaml.Unmarshal(l.read(path.Join(dir, "values.yaml")), &values) == nil && values.Image.Repository != "" {
			l.Workloads = append(l.Workloads, Workload{Name: about.Name, Images: []string{values.Image.Repository}})
		}
		l.Charts = append(l.Charts, c)
		l.note(Found, "Helm chart %s in %s", c.Name, dir)
	}
}

// values returns the values file of a chart for development; empty for its own values.yaml alone. It is guessed by its name.
func (l *looker) values(c Chart) string {
	const none = "only its values.yaml"
	options := []string{none}
	for _, name := range l.all {
		base := path.Base(name)
		if path.Dir(name) != c.Dir || !isYAML(name) || base == "values.yaml" {
			continue
		}
		if strings.HasPrefix(base, "values") || slices.Contains(developed, stem(base)) {
			options = append(options, name)
		}
	}
	if len(options) == 1 {
		return ""
	}
	for _, suffix := range slices.Backward(developed) {
		for i, o := range options {
			if base := stem(path.Base(o)); base == suffix || base == "values-"+suffix || base == "values."+suffix {
				options = slices.Concat([]string{o}, options[:i], options[i+1:])
			}
		}
	}
	if chosen := options[l.answer(Question{"Which values of chart " + c.Name + " are for development?", options})]; chosen != none {
		return chosen
	}
	return ""
}

// developed are the suffixes of files that are meant for development.
var developed = []string{"dev", "development", "local"}

func stem(file string) string { return strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".yml") }
