package compose

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/schema"
)

// shape is the part of a JSON schema that defines the valid keys.
type shape struct {
	Ref        string            `json:"$ref"`
	Properties map[string]*shape `json:"properties"`
	Patterns   map[string]*shape `json:"patternProperties"`
	Items      *shape            `json:"items"`
	OneOf      []*shape          `json:"oneOf"`
	AllOf      []*shape          `json:"allOf"`
	AnyOf      []*shape          `json:"anyOf"`

	Definitions map[string]*shape `json:"definitions"`
	Defs        map[string]*shape `json:"$defs"`
}

// knownKeys returns the valid keys of the mapping at a path, sorted; nil if the schema does not define them. It parses
// the whole schema, so use it for messages only.
func knownKeys(path []string) []string {
	var root shape
	if json.Unmarshal([]byte(schema.Schema), &root) != nil {
		return nil
	}
	at := []*shape{&root}
	for _, part := range path {
		var next []*shape
		for _, s := range root.spread(at, 0) {
			switch {
			case s.Properties[part] != nil:
				next = append(next, s.Properties[part])
			case isIndex(part) && s.Items != nil:
				next = append(next, s.Items)
			default:
				next = slices.AppendSeq(next, maps.Values(s.Patterns))
			}
		}
		at = next
	}
	found := map[string]bool{}
	for _, s := range root.spread(at, 0) {
		for key := range s.Properties {
			found[key] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// maxSpread bounds how far references are followed: a schema may refer to itself.
const maxSpread = 8

// spread returns shapes with the shapes that they refer to, and their alternatives.
func (root *shape) spread(shapes []*shape, depth int) []*shape {
	if depth > maxSpread {
		return nil
	}
	var out []*shape
	for _, s := range shapes {
		if s == nil {
			continue
		}
		out = append(out, s)
		if s.Ref != "" {
			name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
			out = append(out, root.spread([]*shape{root.Definitions[name], root.Defs[name]}, depth+1)...)
		}
		out = append(out, root.spread(slices.Concat(s.OneOf, s.AllOf, s.AnyOf), depth+1)...)
	}
	return out
}
