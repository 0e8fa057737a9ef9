package settle

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// UnwatchedOf returns the files that the builds of a resource's images read and that nothing watches: the sources of secrets outside
// of the paths that the image watches. A relative one belongs to dir.
func UnwatchedOf(m *model.Manifest, dir string) (files []string) {
	for i := range m.Images {
		im := &m.Images[i]
		if im.Docker == nil {
			continue
		}
		for _, s := range im.Docker.Secrets {
			file := sourceOf(s)
			if file == "" {
				continue
			}
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			watched := slices.ContainsFunc(im.Watch.Paths, func(p string) bool { return model.IsChild(p, file) })
			if !watched && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// sourceOf returns the file of a secret that is specified as in "docker build --secret id=key,src=file"; empty if it has none.
func sourceOf(secret string) (file string) {
	for field := range strings.SplitSeq(secret, ",") {
		key, value, _ := strings.Cut(field, "=")
		if key == "src" || key == "source" {
			file = value
		}
	}
	return file
}
