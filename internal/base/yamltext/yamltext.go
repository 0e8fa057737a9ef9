// Package yamltext converts values and JSON to YAML, and YAML to JSON, without loss. A plain copy would lose text: readers of
// YAML refuse some characters that JSON may contain unescaped, and take others for the end of a line.
package yamltext

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// Marshal returns a value as YAML, with the names that it has in JSON.
func Marshal(v any) ([]byte, error) {
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return FromJSON(doc)
}

// FromJSON returns a JSON document as YAML.
func FromJSON(doc []byte) ([]byte, error) { return yaml.JSONToYAML(Readable(doc)) }

// ToJSON returns a document that is YAML or JSON as JSON.
func ToJSON(doc []byte) ([]byte, error) {
	if json.Valid(doc) {
		return doc, nil
	}
	return yaml.YAMLToJSON(doc)
}

// Readable returns a JSON document that has the same meaning for readers of YAML as for readers of JSON: the characters that they
// treat differently are written by their numbers.
func Readable(doc []byte) []byte {
	var out []byte
	kept := 0
	for i := 0; i < len(doc); {
		r, n := rune(doc[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(doc[i:])
		}
		if differs(r) {
			out = fmt.Appendf(append(out, doc[kept:i]...), `\u%04x`, r)
			kept = i + n
		}
		i += n
	}
	if kept == 0 {
		return doc
	}
	return append(out, doc[kept:]...)
}

// differs reports whether readers of YAML and readers of JSON treat a character of a JSON document differently. JSON itself writes
// the control characters below the space by their numbers.
func differs(r rune) bool {
	switch r {
	case 0x7f, 0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff:
		return true
	}
	return r >= 0x80 && r < 0xa0
}
