package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/tiltfile/value"
)

func FuzzConfig(f *testing.F) {
	f.Add(`{"s": "x", "l": ["a"], "b": true, "o": {"a": [1]}}`, "--s=x --l a -b pos --o {}")
	f.Add(`[]`, "-- --s")
	f.Add(`{"s": 1}`, "--b=maybe --s")
	f.Fuzz(func(t *testing.T, file, args string) {
		flags := flags{positional: "p", order: []string{"s", "l", "b", "o", "p"}, defs: map[string]*flagDef{
			"s": {name: "s", kind: kindString}, "l": {name: "l", kind: kindStringList}, "b": {name: "b", kind: kindBool},
			"o": {name: "o", kind: kindObject}, "p": {name: "p", kind: kindStringList},
		}}
		for _, read := range []func() (map[string]any, error){
			func() (map[string]any, error) { return flags.fromFile([]byte(file)) },
			func() (map[string]any, error) { return flags.fromArgs(strings.Fields(args)) },
		} {
			values, err := read()
			if err != nil {
				continue
			}
			for name, v := range values {
				if flags.defs[name] == nil {
					t.Fatalf("unknown setting %q", name)
				}
				if _, ok := flags.defs[name].convert(v); !ok {
					t.Fatalf("setting %q has type %v", name, reflect.TypeOf(v))
				}
				if _, err := value.FromJSON(v); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
