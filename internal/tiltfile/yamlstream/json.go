package yamlstream

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	goyaml "go.yaml.in/yaml/v2"
)

// yamlToJSON converts one YAML document to JSON with sorted keys and without blanks. The result equals the result
// of the Kubernetes clients' own conversion (sigs.k8s.io/yaml), in fewer steps: most of the time of an evaluation
// is spent reading YAML.
func yamlToJSON(text string) ([]byte, error) {
	var v any
	if err := goyaml.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	return appendJSON(make([]byte, 0, len(text)+len(text)/4), v)
}

// appendJSON appends a value of a type that the YAML reader returns.
func appendJSON(out []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...), nil
	case string:
		return appendJSONString(out, v)
	case bool:
		return strconv.AppendBool(out, v), nil
	case int:
		return strconv.AppendInt(out, int64(v), 10), nil
	case map[any]any:
		return appendJSONMapping(out, v)
	case []any:
		out = append(out, '[')
		for i, e := range v {
			if i > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = appendJSON(out, e); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	}
	data, err := json.Marshal(v)
	return append(out, data...), err
}

func appendJSONMapping(out []byte, m map[any]any) ([]byte, error) {
	type entry struct {
		key   string
		value any
	}
	entries := make([]entry, 0, len(m))
	for k, v := range m {
		key, err := mappingKey(k)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{key, v})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	out = append(out, '{')
	for i, e := range entries {
		if i > 0 {
			if e.key == entries[i-1].key {
				return nil, doubleKeyError(e.key)
			}
			out = append(out, ',')
		}
		var err error
		if out, err = appendJSONString(out, e.key); err != nil {
			return nil, err
		}
		if out, err = appendJSON(append(out, ':'), e.value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// doubleKeyError reports that two keys of a mapping differ in YAML but not in JSON, as 1 and "1" do.
type doubleKeyError string

// Error names the key.
func (e doubleKeyError) Error() string {
	return fmt.Sprintf("key %q appears twice in a mapping, in different notations", string(e))
}

// mappingKey returns a key as a JSON key.
func mappingKey(k any) (string, error) {
	switch k := k.(type) {
	case string:
		return k, nil
	case int:
		return strconv.Itoa(k), nil
	case int64:
		return strconv.FormatInt(k, 10), nil
	case bool:
		return strconv.FormatBool(k), nil
	case float64:
		s := strconv.FormatFloat(k, 'g', -1, 32)
		if other, ok := map[string]string{"+Inf": ".inf", "-Inf": "-.inf", "NaN": ".nan"}[s]; ok {
			s = other
		}
		return s, nil
	}
	return "", fmt.Errorf("%v cannot be the key of a mapping", k)
}

// appendJSONString appends a string. It leaves all but the plainest strings to the JSON package.
func appendJSONString(out []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0 {
			data, err := json.Marshal(s)
			return append(out, data...), err
		}
	}
	out = append(out, '"')
	out = append(out, s...)
	return append(out, '"'), nil
}
