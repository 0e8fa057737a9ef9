package renderer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/command"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/file"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

func kustomize(c *eval.Call) (starlark.Value, error) {
	var path, bin string
	var flags value.Texts
	if err := c.Unpack("path", &path, "kustomize_bin??", &bin, "flags??", &flags); err != nil {
		return nil, err
	}
	dir := c.Abs(path)
	if kustomization(dir) == "" {
		c.DependOn(filepath.Join(dir, kustomizationNames[0]))
		return nil, fmt.Errorf("there is no %s in %s", kustomizationNames[0], dir)
	}
	if err := watchKustomization(c.Evaluation, dir, map[string]bool{}); err != nil {
		return nil, err
	}
	argv, err := kustomizeProgram(c, bin)
	if err != nil {
		return nil, err
	}
	argv = append(append(argv, flags.Values...), dir)
	out, err := c.Exec(command.Command{Cmd: model.Cmd{Argv: argv, Dir: c.Dir()}, Quiet: true, Inputs: kustomizeInputs(c.Evaluation, argv)})
	if err != nil {
		return nil, withMend(err)
	}
	return value.NewBlob(out, "kustomize: "+dir), nil
}

// kustomizeProgram returns the program to run, with its verb: the one that the Tiltfile names, or one that is installed.
func kustomizeProgram(c *eval.Call, bin string) ([]string, error) {
	if strings.ContainsRune(bin, filepath.Separator) {
		bin = c.Abs(bin)
	}
	if bin != "" {
		return []string{bin, "build"}, nil
	}
	for _, argv := range [][]string{{"kustomize", "build"}, {"kubectl", "kustomize"}} {
		if _, err := command.LookPath(argv[0], c.Dir(), c.Env.Getenv("PATH")); !errors.Is(err, exec.ErrNotFound) {
			return argv, nil
		}
	}
	return nil, problem.Wrap(exec.ErrNotFound, "cannot run kustomize", "install kustomize (https://kubectl.docs.kubernetes.io/installation/kustomize), or kubectl, which contains it; or add its folder to PATH")
}

// olderThanHelm is Helm 4's error for a kustomize before 5.8.1, which asks for its version with a flag of Helm 3.
const olderThanHelm = "unknown shorthand flag: 'c' in -c"

// withMend adds the way out to the failure of a kustomize that does not know Helm 4.
func withMend(err error) error {
	failed := (*problem.Problem)(nil)
	if !errors.As(err, &failed) || !strings.Contains(failed.Detail, olderThanHelm) {
		return err
	}
	mended := *failed
	mended.Mend = "this kustomize does not know Helm 4: install kustomize 5.8.1 or newer beside kubectl, or name Helm 3 with flags=['--enable-helm', '--helm-command=…']"
	return &mended
}

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// kustomization returns the file that describes a folder, or "".
func kustomization(dir string) string {
	for _, n := range kustomizationNames {
		if p := filepath.Join(dir, n); file.Exists(p) {
			return p
		}
	}
	return ""
}

// kustomizationFile is the part of a kustomization that names files.
type kustomizationFile struct {
	Resources      []string     `json:"resources"`
	Bases          []string     `json:"bases"`
	Components     []string     `json:"components"`
	CRDs           []string     `json:"crds"`
	Configurations []string     `json:"configurations"`
	Generators     []string     `json:"generators"`
	Transformers   []string     `json:"transformers"`
	Validators     []string     `json:"validators"`
	StrategicMerge []string     `json:"patchesStrategicMerge"`
	JSON6902       []pathField  `json:"patchesJson6902"`
	Patches        []pathField  `json:"patches"`
	Replacements   []pathField  `json:"replacements"`
	OpenAPI        pathField    `json:"openapi"`
	ConfigMaps     []generator  `json:"configMapGenerator"`
	Secrets        []generator  `json:"secretGenerator"`
	HelmCharts     []valuesFile `json:"helmCharts"`
}

type pathField struct {
	Path string `json:"path"`
}

type valuesFile struct {
	ValuesFile            string   `json:"valuesFile"`
	AdditionalValuesFiles []string `json:"additionalValuesFiles"`
}

type generator struct {
	Files []string `json:"files"`
	Envs  []string `json:"envs"`
	Env   string   `json:"env"`
}

// references returns the paths in the file. Inline patches and addresses are not paths.
func (k kustomizationFile) references() []string {
	refs := slices.Concat(k.Resources, k.Bases, k.Components, k.CRDs, k.Configurations, k.Generators, k.Transformers,
		k.Validators, k.StrategicMerge, []string{k.OpenAPI.Path})
	for _, p := range slices.Concat(k.JSON6902, k.Patches, k.Replacements) {
		refs = append(refs, p.Path)
	}
	for _, g := range slices.Concat(k.ConfigMaps, k.Secrets) {
		for _, f := range g.Files {
			if _, file, ok := strings.Cut(f, "="); ok {
				f = file
			}
			refs = append(refs, f)
		}
		refs = append(append(refs, g.Envs...), g.Env)
	}
	for _, h := range k.HelmCharts {
		refs = append(append(refs, h.ValuesFile), h.AdditionalValuesFiles...)
	}
	return slices.DeleteFunc(refs, func(r string) bool {
		return r == "" || strings.ContainsAny(r, "\n?") || strings.Contains(r, "://")
	})
}

// watchKustomization makes the evaluation depend on a kustomization and all files and folders that it names.
func watchKustomization(e *eval.Evaluation, dir string, seen map[string]bool) error {
	file := kustomization(dir)
	if seen[dir] || file == "" {
		return nil
	}
	seen[dir] = true
	data, err := e.ReadFile(file)
	if err != nil {
		return err
	}
	var k kustomizationFile
	if err := yaml.Unmarshal(data, &k); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, ref := range k.references() {
		full := ref
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, ref)
		}
		switch info, err := os.Stat(full); {
		case err == nil && info.IsDir():
			if err := watchKustomization(e, full, seen); err != nil {
				return err
			}
		case err == nil, !strings.Contains(ref, ".git"):
			e.DependOn(full)
		}
	}
	return nil
}
