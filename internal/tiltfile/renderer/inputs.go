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

// helmFlags are the flags of "helm template" that read no files; true means that a value follows.
var helmFlags = map[string]bool{
	"--include-crds": false, "--skip-crds": false, "--namespace": true, "--set": true, "--set-string": true, "--set-json": true,
	"--kube-version": true, "--api-versions": true, "--no-hooks": false, "--skip-tests": false,
}

// helmInputs returns the files that determine the output of "helm template NAME CHART FLAG…": the chart, the values
// files, and the kubeconfig, whose namespace is the release's unless one is given. It is nil where a flag is unknown
// here, or where the chart or the values are not local files.
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

// kubeconfigs returns the files from which Kubernetes clients take their defaults.
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

// kustomizeFlags are the flags of kustomize that read no further files.
var kustomizeFlags = map[string]bool{
	"--load-restrictor=LoadRestrictionsNone": true, "--load-restrictor=LoadRestrictionsRootOnly": true,
	"--load-restrictor": true, "LoadRestrictionsNone": true, "LoadRestrictionsRootOnly": true,
	"--enable-managedby-label": true, "--reorder=none": true, "--reorder=legacy": true, "--reorder": true, "none": true, "legacy": true,
}

// kustomizeInputs returns the files that determine the output of "kustomize build FLAG… FOLDER" or "kubectl kustomize
// FLAG… FOLDER": the kustomization with all files that it names. It is nil where a kustomization has a field that is
// unknown here, or uses the network, a chart or a plugin.
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

// kustomizationPlain has the fields that a kustomization may have so that its files are known: those that name files,
// and those that need none. Generators, transformers and validators are plugins, whose configuration may name files of
// its own.
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

// kustomizationPaths are the fields that name files.
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

// files returns all paths that are named. An inline patch is not a path; ok is false where a path may be an address.
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

// addKustomization adds a folder's kustomization with all files that it names; ok is false where they are not known. A
// file that does not exist may be created later, or be an address without a scheme ("github.com/…"): its absence is an
// input only where it cannot be an address.
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
