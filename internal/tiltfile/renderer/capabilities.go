package renderer

import (
	"bytes"
	"io/fs"
	"path/filepath"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/file"
)

// capabilities returns the flags that give "helm template" the version and the APIs of the cluster, which "helm install"
// would find out by itself. The user's own kubeVersion wins. Most charts do not depend on either; for them, the cluster
// is not asked.
func capabilities(c *eval.Call, of *eval.Served, chart, kubeVersion string) []string {
	if !asksForCapabilities(chart) {
		return kubeVersionFlag(kubeVersion)
	}
	served := c.Capabilities(c.Site(), of)
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

// asksForCapabilities reports whether a chart, or a chart in it, may depend on the cluster's version or APIs. A packed
// chart counts as if it did.
func asksForCapabilities(chart string) bool {
	if !file.IsDir(chart) {
		return true
	}
	found := false
	_ = filepath.WalkDir(chart, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // helm reports unreadable files
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

// mentionsCapabilities reports whether a file of a chart, or the chart's own description, mentions the cluster's version
// or APIs.
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
