package renderer

import (
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/tiltfile/command"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/file"
)

// helmFlags are the flags of "helm template" that read nothing, and whether a value follows them.
var helmFlags = map[string]bool{
	"--include-crds": false, "--skip-crds": false, "--namespace": true, "--set": true, "--set-string": true, "--set-json": true,
	"--kube-version": true, "--api-versions": true, "--no-hooks": false, "--skip-tests": false,
}

// helmInputs are what decides the output of "helm template NAME CHART FLAG…": the chart, the values files, and the
// kubeconfig, whose namespace is the release's unless one is given. It is nil where there is a flag that is not known
// here, or a chart or values that are no files.
func helmInputs(e *eval.Evaluation, argv []string) func() *command.Inputs {
	if len(argv) < 4 || argv[1] != "template" || !filepath.IsAbs(argv[3]) {
		return nil
	}
	in := &command.Inputs{Paths: append([]string{argv[3]}, kubeconfigs(e)...), Templates: true}
	for i := 4; i < len(argv); i++ {
		if argv[i] == "--values" && i+1 < len(argv) && filepath.IsAbs(argv[i+1]) {
			i++
			in.Paths = append(in.Paths, argv[i])
			continue
		}
		takesValue, known := helmFlags[argv[i]]
		if !known {
			return nil
		}
		if takesValue {
			i++
		}
	}
	return func() *command.Inputs { return in }
}

// kubeconfigs are the files from which clients of Kubernetes take their defaults.
func kubeconfigs(e *eval.Evaluation) []string {
	home := e.Env.Getenv("HOME")
	paths := []string{filepath.Join(home, ".kube", "kuberc")}
	if rc := e.Env.Getenv("KUBERC"); rc != "" {
		paths = append(paths, e.Abs(rc))
	}
	list := filepath.SplitList(e.Env.Getenv("KUBECONFIG"))
	if len(list) == 0 {
		list = []string{filepath.Join(home, ".kube", "config")}
	}
	for _, p := range list {
		if p != "" {
			paths = append(paths, e.Abs(p))
		}
	}
	return paths
}

// kustomizeFlags are the flags of kustomize that read nothing more.
var kustomizeFlags = map[string]bool{
	"--load-restrictor=LoadRestrictionsNone": true, "--load-restrictor=LoadRestrictionsRootOnly": true,
	"--load-restrictor": true, "LoadRestrictionsNone": true, "LoadRestrictionsRootOnly": true,
	"--enable-managedby-label": true, "--reorder=none": true, "--reorder=legacy": true, "--reorder": true, "none": true, "legacy": true,
}

// kustomizeInputs are what decides the output of "kustomize build FLAG… FOLDER" or "kubectl kustomize FLAG… FOLDER": the
// kustomization with all files that it names. It is nil where a kustomization says something that is not known here, or
// takes something from the network, a chart or a plugin.
func kustomizeInputs(e *eval.Evaluation, argv []string) func() *command.Inputs {
	for _, flag := range argv[2 : len(argv)-1] {
		if !kustomizeFlags[flag] {
			return nil
		}
	}
	configs, dir := kubeconfigs(e), argv[len(argv)-1]
	return func() *command.Inputs {
		in := &command.Inputs{Paths: slices.Clone(configs)}
		if !addKustomization(in, dir, map[string]bool{}) {
			return nil
		}
		return in
	}
}

// kustomizationPlain is what a kustomization may hold so that its files are known: what names them, and what needs none.
// Generators, transformers and validators are plugins, whose configuration may name files of its own.
type kustomizationPlain struct {
	kustomizationPaths
	APIVersion        string `json:"apiVersion"`
	Kind              string `json:"kind"`
	Metadata          any    `json:"metadata"`
	NamePrefix        string `json:"namePrefix"`
	NameSuffix        string `json:"nameSuffix"`
	Namespace         string `json:"namespace"`
	CommonLabels      any    `json:"commonLabels"`
	CommonAnnotations any    `json:"commonAnnotations"`
	Labels            any    `json:"labels"`
	Images            any    `json:"images"`
	ImageTags         any    `json:"imageTags"`
	Replicas          any    `json:"replicas"`
	Vars              any    `json:"vars"`
	GeneratorOptions  any    `json:"generatorOptions"`
	BuildMetadata     any    `json:"buildMetadata"`
	SortOptions       any    `json:"sortOptions"`
}

// kustomizationPaths is the part that names files.
type kustomizationPaths struct {
	Resources      []string        `json:"resources"`
	Bases          []string        `json:"bases"`
	Components     []string        `json:"components"`
	CRDs           []string        `json:"crds"`
	Configurations []string        `json:"configurations"`
	StrategicMerge []string        `json:"patchesStrategicMerge"`
	JSON6902       []patchPlain    `json:"patchesJson6902"`
	Patches        []patchPlain    `json:"patches"`
	Replacements   []replacePlain  `json:"replacements"`
	OpenAPI        pathField       `json:"openapi"`
	ConfigMaps     []generatePlain `json:"configMapGenerator"`
	Secrets        []generatePlain `json:"secretGenerator"`
}

type patchPlain struct {
	Path    string `json:"path"`
	Patch   string `json:"patch"`
	Target  any    `json:"target"`
	Options any    `json:"options"`
}

type replacePlain struct {
	Path    string `json:"path"`
	Source  any    `json:"source"`
	Targets any    `json:"targets"`
}

type generatePlain struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace"`
	Behavior  string   `json:"behavior"`
	Type      string   `json:"type"`
	Files     []string `json:"files"`
	Envs      []string `json:"envs"`
	Env       string   `json:"env"`
	Literals  []string `json:"literals"`
	Options   any      `json:"options"`
}

// files returns all paths that are named. An inline patch is none; ok is false where something may be an address.
func (k kustomizationPaths) files() (paths []string, ok bool) {
	paths = append(paths, k.OpenAPI.Path)
	for _, list := range [][]string{k.Resources, k.Bases, k.Components, k.CRDs, k.Configurations, k.StrategicMerge} {
		paths = append(paths, list...)
	}
	for _, p := range append(k.JSON6902, k.Patches...) {
		paths = append(paths, p.Path)
	}
	for _, r := range k.Replacements {
		paths = append(paths, r.Path)
	}
	for _, g := range append(k.ConfigMaps, k.Secrets...) {
		paths = append(append(paths, g.Envs...), g.Env)
		for _, f := range g.Files {
			if _, file, named := strings.Cut(f, "="); named {
				f = file
			}
			paths = append(paths, f)
		}
	}
	var out []string
	for _, p := range paths {
		switch {
		case strings.Contains(p, "://"), strings.HasPrefix(p, "git@"), strings.Contains(p, "?"), strings.Contains(p, "//"):
			return nil, false
		case p != "" && !strings.Contains(p, "\n"):
			out = append(out, p)
		}
	}
	return out, true
}

// addKustomization adds a folder's kustomization with all that it names; ok is false where that is not known. A file that
// is not there may come to be, or be an address without a scheme ("github.com/…"): its absence is an input only where it
// cannot be an address.
func addKustomization(in *command.Inputs, dir string, seen map[string]bool) (ok bool) {
	if seen[dir] {
		return true
	}
	seen[dir] = true
	for _, n := range kustomizationNames {
		in.Paths = append(in.Paths, filepath.Join(dir, n))
	}
	data, err := file.Read(kustomization(dir), file.Most)
	if err != nil {
		return false
	}
	var k kustomizationPlain
	if err := yaml.UnmarshalStrict(data, &k); err != nil {
		return false
	}
	paths, ok := k.files()
	if !ok {
		return false
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		switch {
		case file.Exists(p):
			in.Paths = append(in.Paths, p)
		case !file.IsDir(p) || !addKustomization(in, p, seen):
			return false
		}
	}
	return true
}
