package model

import (
	"slices"
	"strings"
)

// secretData are the fields of a Secret that hold its values.
var secretData = []string{"data", "stringData"}

// SecretMaps are the paths of the maps in a Secret that may hold its values: its data, and annotations with a copy of it. They must not
// be changed.
var SecretMaps = [][]string{{"data"}, {"stringData"}, {"metadata", "annotations"}}

// longestNote is the length in bytes up to which an annotation of a Secret is taken for a note. Tools keep copies of the whole object
// in annotations: kubectl and kapp as JSON, Rancher packed.
const longestNote = 128

// CopiesSecret reports whether an annotation of a Secret may hold a copy of the Secret, and so its values.
func CopiesSecret(text string) bool { return len(text) > longestNote || strings.Contains(text, "{") }

// SecretPath reports whether the field at a path of a Secret may hold its values: the path's first names, and the text that is there
// or is to be there.
func SecretPath(path []string, texts ...string) bool {
	switch {
	case len(path) == 0:
		return false
	case slices.Contains(secretData, path[0]):
		return true
	}
	annotation := len(path) > 1 && path[0] == "metadata" && path[1] == "annotations"
	return annotation && slices.ContainsFunc(texts, CopiesSecret)
}

// EachSecretValue calls fn for each field of a decoded Secret that may hold one of its values. fn may replace the value in its map.
func EachSecretValue(secret map[string]any, fn func(path []string, values map[string]any, name string)) {
	for _, path := range SecretMaps {
		values := secret
		for _, name := range path {
			values, _ = values[name].(map[string]any)
		}
		for name, v := range values {
			text, _ := v.(string)
			if SecretPath(path, text) {
				fn(path, values, name)
			}
		}
	}
}
