//go:build linux

package declared

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/pkg/model"
)

// plain removes the server's additions, and hone's: labels, images, the synclet, and the commands of the named containers.
func plain(v any, wrapped map[string]bool) any {
	switch v := v.(type) {
	case []any:
		var out []any
		for _, e := range v {
			if m, ok := e.(map[string]any); ok && m["name"] == model.SyncletName {
				continue
			}
			out = append(out, plain(e, wrapped))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		name, _ := v["name"].(string)
		for k, e := range v {
			switch {
			case slices.Contains([]string{"status", "managedFields", "generation", "resourceVersion", "creationTimestamp", "imagePullPolicy"}, k):
			case k == deploy.LabelManagedBy, strings.Contains(k, "hone.dev/"):
			case wrapped[name] && (k == "command" || k == "args"):
			case k == "image":
				out[k] = imageName(fmt.Sprint(e))
			default:
				if e = plain(e, wrapped); !reflect.ValueOf(e).IsValid() || !empty(e) {
					out[k] = e
				}
			}
		}
		return out
	}
	return v
}

// supervised returns the names of the containers whose command hone has wrapped.
func supervised(object map[string]any) map[string]bool {
	names := map[string]bool{}
	for _, path := range [][]string{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}} {
		containers, _, _ := unstructured.NestedSlice(object, append(path, "containers")...)
		sidecars, _, _ := unstructured.NestedSlice(object, append(path, "initContainers")...)
		for _, c := range append(containers, sidecars...) {
			if c, ok := c.(map[string]any); ok {
				command, _, _ := unstructured.NestedStringSlice(c, "command")
				names[fmt.Sprint(c["name"])] = len(command) > 0 && strings.HasSuffix(command[0], "/synclet")
			}
		}
	}
	return names
}

// localRegistry is the beginning of the references of a registry on this machine.
var localRegistry = regexp.MustCompile(`^localhost:\d+/`)

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// imageName returns a reference without its tag, in the form in which hone names the images that it builds from it.
func imageName(ref string) string {
	ref, _, _ = strings.Cut(localRegistry.ReplaceAllString(ref, ""), "@")
	if tag := strings.LastIndex(ref, ":"); tag > strings.LastIndex(ref, "/") {
		ref = ref[:tag]
	}
	return strings.ReplaceAll(ref, "/", "_")
}
