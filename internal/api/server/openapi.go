package server

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/hone-dev/hone/internal/api/schema"
	"github.com/hone-dev/hone/pkg/api"
)

// about describes a route: the query and the body of its request, and the content of its answer.
type about struct {
	// query are the parameters; with filters, the parameters that select lines of a log are added.
	query   []string
	filters bool
	// takes and gives are values of the types of the bodies; nil for none. also are further types of the answer.
	takes, gives any
	also         []any
	// media is the type of the answer, by default JSON. In mediaLines and mediaEvents, each line or event holds one value.
	media string
}

// The types of answers that are not one JSON document.
const (
	mediaJSON   = "application/json"
	mediaLines  = "application/jsonl"
	mediaEvents = "text/event-stream"
)

// schemaPrefix precedes the names of types in references.
const schemaPrefix = "#/components/schemas/"

// openAPIName is the name of the document under /openapi/v3.
const openAPIName = "hone"

// describe returns the OpenAPI document of routes.
func describe(routes []route) map[string]any {
	types := schema.NewDefinitions(schemaPrefix)
	types.Strict = true
	paths := map[string]any{}
	for _, r := range routes {
		method, path, _ := strings.Cut(r.pattern, " ")
		item, _ := paths[path].(map[string]any)
		if item == nil {
			item = map[string]any{}
			paths[path] = item
		}
		item[strings.ToLower(method)] = r.about.operation(types, method, path)
	}
	all := map[string]any{}
	for name, of := range types.All {
		all[shortName(name)] = shorten(of)
	}
	return map[string]any{"paths": shorten(paths), "components": map[string]any{"schemas": all}}
}

// operation describes one route.
func (a about) operation(types *schema.Definitions, method, path string) map[string]any {
	id := strings.ToLower(method)
	for word := range strings.FieldsFuncSeq(strings.TrimPrefix(path, "/api/"), func(r rune) bool { return strings.ContainsRune("/_-", r) }) {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	o := map[string]any{"operationId": id}
	query := a.query
	if a.filters {
		query = append(append([]string(nil), selectors...), query...)
	}
	var parameters []any
	for _, q := range query {
		parameters = append(parameters, map[string]any{"name": q, "in": "query", "schema": map[string]any{"type": "string"}})
	}
	if parameters != nil {
		o["parameters"] = parameters
	}
	if a.takes != nil {
		o["requestBody"] = map[string]any{"required": true, "content": content(mediaJSON, types.Define(reflect.TypeOf(a.takes)))}
	}
	media := a.media
	if media == "" {
		media = mediaJSON
	}
	gives := map[string]any{"type": "object"}
	if a.gives != nil {
		gives = types.Define(reflect.TypeOf(a.gives))
	}
	if a.also != nil {
		one := []any{gives}
		for _, t := range a.also {
			one = append(one, types.Define(reflect.TypeOf(t)))
		}
		gives = map[string]any{"oneOf": one}
	}
	o["responses"] = map[string]any{
		"200":     map[string]any{"description": http.StatusText(http.StatusOK), "content": content(media, gives)},
		"default": map[string]any{"description": "the request failed", "content": content(mediaJSON, types.Define(reflect.TypeFor[api.Failure]()))},
	}
	return o
}

func content(media string, of map[string]any) map[string]any {
	return map[string]any{media: map[string]any{"schema": of}}
}

// shortName returns the name of a type of pkg/api without its package: there is one package, and programs are written with the names.
func shortName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// shorten shortens the references in a document.
func shorten(of any) any {
	switch v := of.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if ref, ok := inner.(string); ok && key == "$ref" {
				inner = schemaPrefix + shortName(ref)
			}
			out[key] = shorten(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = shorten(inner)
		}
		return out
	}
	return of
}
