package description

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/client/objects"
)

// schemas are the schemas of a group and version, by name.
type schemas map[string]map[string]any

// writeSchema writes the schema of a kind, or of one of its fields, as JSON.
func writeSchema(s *objects.Client, k objects.Kind, path []string, out io.Writer) error {
	all, err := schemasOf(s, k)
	if err != nil {
		return err
	}
	found, err := all.field(k, path)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(all.resolved(found))
}

// field returns the schema of a kind's field, or of the kind for an empty path. An unknown field is a problem.
func (all schemas) field(k objects.Kind, path []string) (map[string]any, error) {
	found := all.kind(k)
	for i, name := range path {
		properties, _ := all.inner(found)["properties"].(map[string]any)
		next, ok := properties[name].(map[string]any)
		if !ok {
			return nil, problem.New(fmt.Sprintf("%s has no field %s", k.GVR.Resource, strings.Join(path[:i+1], ".")),
				suggest.Mend(name, slices.Sorted(maps.Keys(properties)), "hone explain "+k.GVR.Resource+" --recursive lists the fields"))
		}
		found = next
	}
	return found, nil
}

func schemasOf(s *objects.Client, k objects.Kind) (schemas, error) {
	paths, err := s.OpenAPI().Paths()
	if err != nil {
		return nil, fmt.Errorf("get the session's schemas: %w", err)
	}
	group, ok := paths["apis/"+k.GVR.GroupVersion().String()]
	if !ok {
		return nil, fmt.Errorf("the session has no schemas of %s", k.GVR.GroupVersion())
	}
	text, err := group.Schema("application/json")
	if err != nil {
		return nil, fmt.Errorf("get the session's schemas: %w", err)
	}
	var doc struct {
		Components struct {
			Schemas schemas `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read the session's schemas: %w", err)
	}
	return doc.Components.Schemas, nil
}

// kind returns the schema of a kind.
func (all schemas) kind(k objects.Kind) map[string]any {
	for _, s := range all {
		list, _ := s["x-kubernetes-group-version-kind"].([]any)
		for _, x := range list {
			if is, _ := x.(map[string]any); is["group"] == k.GVR.Group && is["version"] == k.GVR.Version && is["kind"] == k.Name {
				return s
			}
		}
	}
	return nil
}

// resolved returns a schema or, for a reference, the schema that it refers to with the reference's own description.
func (all schemas) resolved(s map[string]any) map[string]any {
	ref, _ := s["$ref"].(string)
	if list, ok := s["allOf"].([]any); ok && len(list) == 1 {
		first, _ := list[0].(map[string]any)
		ref, _ = first["$ref"].(string)
	}
	if ref == "" {
		return s
	}
	out := map[string]any{}
	for k, v := range all[ref[strings.LastIndex(ref, "/")+1:]] {
		out[k] = v
	}
	if text, ok := s["description"]; ok {
		out["description"] = text
	}
	return out
}

// inner returns the schema that has the fields: for a list or a map, the schema of its elements.
func (all schemas) inner(s map[string]any) map[string]any {
	s = all.resolved(s)
	for _, in := range []string{"items", "additionalProperties"} {
		if of, ok := s[in].(map[string]any); ok {
			return all.inner(of)
		}
	}
	return s
}
