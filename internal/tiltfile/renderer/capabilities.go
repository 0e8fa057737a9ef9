package renderer

import (
	"bytes"
	"io/fs"
	"path/filepath"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/file"
)

// capabilities returns the flags that tell "helm template" what the cluster serves, as "helm install" would find out. The
// user's own kubeVersion goes first. Most charts do not depend on it; then the cluster is not asked.
func capabilities(c *eval.Call, chart, kubeVersion string) []string {
	if !asksForCapabilities(chart) {
		return kubeVersionFlag(kubeVersion)
	}
	served := c.Capabilities(c.Site())
	if kubeVersion == "" {
		kubeVersion = served.KubeVersion
	}
	flags := kubeVersionFlag(kubeVersion)
	for _, v := range served.APIVersions {
		flags = append(flags, "--api-versions", v)
	}
	return flags
}

func kubeVersionFlag(version string) []string {
	if version == "" {
		return nil
	}
	return []string{"--kube-version", version}
}

// asksForCapabilities reports whether a chart or a chart in it may depend on what the cluster serves. What is packed
// counts as if it did.
func asksForCapabilities(chart string) bool {
	if !file.IsDir(chart) {
		return true
	}
	found := false
	_ = filepath.WalkDir(chart, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // helm reports what it cannot read
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if found = filepath.Ext(path) == ".tgz" || mentionsCapabilities(path); found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// mentionsCapabilities reports whether a file of a chart, or the chart's own description, names what the cluster serves.
func mentionsCapabilities(path string) bool {
	data, err := file.Read(path, file.Most)
	if err != nil {
		return false
	}
	if filepath.Base(path) == "Chart.yaml" {
		return bytes.Contains(data, []byte("kubeVersion"))
	}
	return bytes.Contains(data, []byte("Capabilities"))
}
