package deploy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Parts of the API server's messages. These errors have no machine-readable form.
const (
	typedPatchError  = "failed to create typed patch object"
	undeclaredSuffix = ": field not declared in schema"
)

// unknownFields returns the paths of the fields that the API server rejects because their kind does not have them. It
// returns nil if the error has any other cause.
func unknownFields(err error) []string {
	var out []string
	for line := range strings.Lines(typedComplaint(err)) {
		path, ok := strings.CutSuffix(strings.TrimSpace(line), undeclaredSuffix)
		if !ok {
			return nil
		}
		out = append(out, path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// typedComplaint returns the API server's messages about an object that does not match the schema of its kind, one per
// line. It is empty for other errors.
func typedComplaint(err error) string {
	if err == nil || !strings.Contains(err.Error(), typedPatchError) {
		return ""
	}
	_, list, _ := strings.Cut(err.Error(), "): ")
	return typedValue.ReplaceAllString(strings.TrimPrefix(list, "errors:\n"), "$1")
}

// typedValue matches a value of the wrong type in the server's messages.
var typedValue = regexp.MustCompile(`&value\.valueUnstructured\{Value:(.*?)\}`)

// repeatedEntries reports whether server-side apply rejects an object only because of list entries that share a key.
func repeatedEntries(err error) bool {
	complaint := typedComplaint(err)
	for line := range strings.Lines(complaint) {
		if !strings.Contains(line, ": duplicate entries for key ") {
			return false
		}
	}
	return complaint != ""
}

// removeAll removes the fields at the given paths and reports whether it found all of them.
func removeAll(root map[string]any, paths []string) bool {
	for _, p := range paths {
		if !removeAt(root, p) {
			return false
		}
	}
	return true
}

// removeAt removes the field at a path in the server's notation, e.g. `.spec.ports[port=80,protocol="TCP"].prot`.
func removeAt(v any, path string) bool {
	switch v := v.(type) {
	case map[string]any:
		rest, ok := strings.CutPrefix(path, ".")
		if !ok {
			return false
		}
		if _, ok := v[rest]; ok {
			delete(v, rest)
			return true
		}
		for k, next := range v {
			if below, ok := strings.CutPrefix(rest, k); ok && below != "" && removeAt(next, below) {
				return true
			}
		}
	case []any:
		if !strings.HasPrefix(path, "[") {
			return false
		}
		end := closingBracket(path)
		if end < 0 {
			return false
		}
		for _, defaults := range []bool{false, true} {
			for i, item := range v {
				if selected(item, i, path[1:end], defaults) && removeAt(item, path[end+1:]) {
					return true
				}
			}
		}
	}
	return false
}

// selected reports whether the server's selector (an index, or natural keys with JSON values) matches the item. With
// defaults, the item may lack some of the keys, because the server fills them in.
func selected(item any, i int, selector string, defaults bool) bool {
	if n, err := strconv.Atoi(selector); err == nil {
		return n == i
	}
	m, ok := item.(map[string]any)
	if !ok {
		return false
	}
	matched := false
	for pair := range splitPairs(selector) {
		name, raw, ok := strings.Cut(pair, "=")
		var want any
		if !ok || json.Unmarshal([]byte(raw), &want) != nil {
			return false
		}
		got, has := m[name]
		if !has && !defaults {
			return false
		}
		if has && fmt.Sprint(got) != fmt.Sprint(want) {
			return false
		}
		matched = matched || has
	}
	return matched
}

// splitPairs yields the comma-separated parts of s. It ignores commas in quotes.
func splitPairs(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := 0; i < len(s); i++ {
			switch {
			case s[i] == '\\' && quoted:
				i++
			case s[i] == '"':
				quoted = !quoted
			case s[i] == ',' && !quoted:
				if !yield(s[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(s[start:])
	}
}

// closingBracket returns the index of the bracket that closes the one at s[0], outside of quotes, or -1.
func closingBracket(s string) int {
	quoted := false
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ']' && !quoted:
			return i
		}
	}
	return -1
}
