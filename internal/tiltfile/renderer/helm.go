// Package renderer renders Kubernetes objects with helm() and kustomize(), and finds the files that determine their output.
package renderer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"go.starlark.net/starlark"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/command"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/file"
	"github.com/hone-dev/hone/internal/tiltfile/k8sobject"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/internal/tiltfile/yamlstream"
	"github.com/hone-dev/hone/pkg/model"
)

// Builtins are the functions that render Kubernetes objects.
func Builtins() map[string]eval.Function {
	return map[string]eval.Function{"helm": helm, "kustomize": kustomize}
}

func helm(c *eval.Call) (starlark.Value, error) {
	var path, namespace, kubeVersion, cluster string
	name := "chart"
	var values, set value.Texts
	var skipCRDs bool
	if err := c.Unpack("path", &path, "name??", &name, "namespace??", &namespace, "values??", &values,
		"set??", &set, "kube_version??", &kubeVersion, "skip_crds??", &skipCRDs, "cluster??", &cluster); err != nil {
		return nil, err
	}
	of, err := c.Declared(cluster)
	if err != nil {
		return nil, err
	}
	chart := c.Abs(path)
	c.DependOn(chart)
	if _, err := os.Stat(chart); err != nil {
		return nil, fmt.Errorf("there is no chart %s%s", chart, c.Sibling(chart))
	}
	if name == "" {
		return nil, errors.New("name: the name of the release is empty")
	}
	if _, err := command.LookPath("helm", c.Dir(), c.Env.Getenv("PATH")); errors.Is(err, exec.ErrNotFound) {
		return nil, problem.Wrap(exec.ErrNotFound, "cannot run helm", "install Helm 3.6 or newer (https://helm.sh/docs/intro/install), or add its folder to PATH")
	}
	if err := watchSubcharts(c.Evaluation, chart, map[string]bool{}); err != nil {
		return nil, err
	}
	argv := []string{"helm", "template", name, chart}
	if !skipCRDs {
		argv = append(argv, "--include-crds")
	}
	if namespace != "" {
		argv = append(argv, "--namespace", namespace)
	}
	for _, v := range c.AbsAll(values.Values) {
		c.DependOn(v)
		argv = append(argv, "--values", v)
	}
	c.Hide(name, set.Values)
	for _, v := range set.Values {
		argv = append(argv, "--set", v)
	}
	argv = append(argv, capabilities(c, of, chart, kubeVersion)...)
	out, err := c.Exec(command.Command{Cmd: model.Cmd{Argv: argv, Dir: c.Dir()}, Quiet: true, Inputs: helmInputs(c.Evaluation, argv)})
	if err != nil {
		return nil, err
	}
	return rendered(c, out, namespace, "helm: "+chart)
}

var (
	helmSource = regexp.MustCompile(`(?m)^# Source: (\S+)`)
	testSource = regexp.MustCompile(`(^|/)tests/`)
)

// rendered drops the chart's tests, and sets the namespace of objects that have none.
func rendered(c *eval.Call, out, namespace, source string) (starlark.Value, error) {
	var kept []*k8sobject.Object
	for _, doc := range yamlstream.Split(out) {
		if m := helmSource.FindStringSubmatch(doc.Text); m != nil && testSource.MatchString(m[1]) {
			continue
		}
		objs, err := k8sobject.Parse(c.Memo, c.Profile, doc.Text, source)
		if err != nil {
			return nil, err
		}
		for _, o := range objs {
			if namespace != "" && o.Namespace == "" && !k8sobject.ClusterScoped(o.Kind) {
				if err := o.SetNamespace(namespace); err != nil {
					return nil, err
				}
			}
		}
		kept = append(kept, objs...)
	}
	text, err := k8sobject.Join(kept)
	return value.NewBlob(text, source), err
}

// watchSubcharts makes the evaluation depend on the charts that a chart takes from the file system.
func watchSubcharts(e *eval.Evaluation, chart string, seen map[string]bool) error {
	if seen[chart] || !file.IsDir(chart) {
		return nil
	}
	seen[chart] = true
	for _, name := range []string{"Chart.yaml", "requirements.yaml"} {
		data, err := file.Read(filepath.Join(chart, name), file.Most)
		if err != nil {
			continue
		}
		var meta struct {
			Dependencies []struct {
				Repository string `json:"repository"`
			} `json:"dependencies"`
		}
		if err := yaml.Unmarshal(data, &meta); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(chart, name), err)
		}
		for _, d := range meta.Dependencies {
			local, ok := strings.CutPrefix(d.Repository, "file://")
			if !ok {
				continue
			}
			if !filepath.IsAbs(local) {
				local = filepath.Join(chart, local)
			}
			e.DependOn(local)
			if err := watchSubcharts(e, local, seen); err != nil {
				return err
			}
		}
	}
	return nil
}
