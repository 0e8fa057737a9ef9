package k8sobject

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fieldError is an error of one field of a document.
type fieldError struct {
	path []string
	msg  string
}

// Error implements error.
func (e *fieldError) Error() string { return e.msg }

// checkBase64 checks the values of a field of an object that the API server would refuse, each time that the object is
// applied. The error does not repeat the value: it may be a password.
func checkBase64(o *Object, field string, raw json.RawMessage, otherwise string) error {
	var values map[string]any
	_ = json.Unmarshal(raw, &values)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if wrong := notBase64(values[key]); wrong != "" {
			return &fieldError{[]string{field, key}, fmt.Sprintf("%s %s: %s.%s %s; encode it, or %s", strings.ToLower(o.Kind), o.Name, field, key, wrong, otherwise)}
		}
	}
	return nil
}

// notBase64 returns the reason why a value is not a text in base64; "" if it is one.
func notBase64(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if _, err := base64.StdEncoding.DecodeString(v); err != nil {
			return "is not base64"
		}
		return ""
	}
	return "is not a text"
}
