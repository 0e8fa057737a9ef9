package deploy

import (
	"slices"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// unbuiltTag is the tag of images that a preview does not build. It ends every reference to them.
const unbuiltTag = ":known-after-the-build"

// Unbuilt stands for the image of a target in a preview: its name in the cluster is known only after its build.
func Unbuilt(target model.ImageTarget) model.ImageResult {
	name, _, _ := strings.Cut(target.Ref, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name = name[:i]
	}
	return model.ImageResult{Cluster: name + unbuiltTag}
}

// UnbuiltCommand stands for the command of an image that is known only after its build.
func UnbuiltCommand() *ImageCommand { return &ImageCommand{Entrypoint: []string{unbuiltTag}} }

// afterBuild reports whether a value has a part that is known only after the build of an image.
func afterBuild(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.HasSuffix(v, unbuiltTag)
	case []any:
		return slices.ContainsFunc(v, afterBuild)
	}
	return false
}
