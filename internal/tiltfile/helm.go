package tiltfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.starlark.net/starlark"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/pkg/model"
)

// rendererBuiltins are the functions that render objects of Kubernetes.
func rendererBuiltins() map[string]function {
	return map[string]function{"helm": helm, "kustomize": kustomize}
}

func helm(c *call) (starlark.Value, error) {
	var path, namespace, kubeVersion string
	name := "chart"
	var values, set textList
	var skipCRDs bool
	if err := c.unpack("path", &path, "name??", &name, "namespace??", &namespace, "values??", &values,
		"set??", &set, "kube_version??", &kubeVersion, "skip_crds??", &skipCRDs); err != nil {
		return nil, err
	}
	chart := c.abs(path)
	c.dependOn(chart)
	if _, err := os.Stat(chart); err != nil {
		return nil, fmt.Errorf("there is no chart %s%s", chart, c.sibling(chart))
	}
	if name == "" {
		return nil, errors.New("name: the name of the release is empty")
	}
	if err := watchSubcharts(c.evaluation, chart, map[string]bool{}); err != nil {
		return nil, err
	}
	argv := []string{"helm", "template", name, chart}
	if !skipCRDs {
		argv = append(argv, "--include-crds")
	}
	if namespace != "" {
		argv = append(argv, "--namespace", namespace)
	}
	for _, v := range c.absAll(values.values) {
		c.dependOn(v)
		argv = append(argv, "--values", v)
	}
	for _, v := range set.values {
		argv = append(argv, "--set", v)
	}
	if kubeVersion != "" {
		argv = append(argv, "--kube-version", kubeVersion)
	}
	out, err := c.exec(command{Cmd: model.Cmd{Argv: argv, Dir: c.dir()}, quiet: true, inputs: helmInputs(c.evaluation, argv)})
	if err != nil {
		return nil, err
	}
	return rendered(c, out, namespace, "helm: "+chart)
}

var (
	helmSource = regexp.MustCompile(`(?m)^# Source: (\S+)`)
	testSource = regexp.MustCompile(`(^|/)tests/`)
)

// rendered drops the chart's tests, and puts the namespace into objects that leave it open.
func rendered(c *call, out, namespace, source string) (starlark.Value, error) {
	var kept []*object
	for _, doc := range splitYAML(out) {
		if m := helmSource.FindStringSubmatch(doc.text); m != nil && testSource.MatchString(m[1]) {
			continue
		}
		objs, err := parseObjects(c.memo, c.profile, doc.text, source)
		if err != nil {
			return nil, err
		}
		for _, o := range objs {
			if namespace != "" && o.Namespace == "" && !ClusterScoped(o.Kind) {
				if err := o.setNamespace(namespace); err != nil {
					return nil, err
				}
			}
		}
		kept = append(kept, objs...)
	}
	text, err := joinObjects(kept)
	return newBlob(text, source), err
}

// watchSubcharts adds the charts that a chart takes from the file system.
func watchSubcharts(e *evaluation, chart string, seen map[string]bool) error {
	if seen[chart] || !isDir(chart) {
		return nil
	}
	seen[chart] = true
	for _, name := range []string{"Chart.yaml", "requirements.yaml"} {
		data, err := readBounded(filepath.Join(chart, name), mostFile)
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
			e.dependOn(local)
			if err := watchSubcharts(e, local, seen); err != nil {
				return err
			}
		}
	}
	return nil
}
