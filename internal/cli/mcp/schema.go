package mcp

import (
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf returns the schema of an output. Each client reads the schemas of all tools before its first question, and pays for them. So these
// leave out everything that is true of each: that no list is null, and that further fields may come.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("%T has no schema: %v", *new(T), err)) // the types are the ones of this program
	}
	shorten(s)
	return s
}

// shorten shortens a schema and the ones below it.
func shorten(s *jsonschema.Schema) {
	if i := slices.Index(s.Types, "null"); i >= 0 && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1-i], nil
	}
	s.AdditionalProperties = nil
	if s.Items != nil {
		shorten(s.Items)
	}
	for _, p := range s.Properties {
		shorten(p)
	}
}
