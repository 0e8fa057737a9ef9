package yamltext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// check writes a text as YAML, and JSON for readers of YAML, and reads both again.
func check(t *testing.T, text string) {
	t.Helper()
	want := map[string]string{"key": text, "k" + text: "value"}
	doc, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Marshal(want)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	for _, written := range [][]byte{out, Readable(doc)} {
		var got map[string]string
		if err := yaml.Unmarshal(written, &got); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%q became %q in %s", v, got[k], written)
			}
		}
	}
	var got map[string]string
	if err := json.Unmarshal(Readable(doc), &got); err != nil || got["key"] != text {
		t.Errorf("%q is %q for readers of JSON, %v", text, got["key"], err)
	}
}

// TestEveryCharacter writes each character of the Basic Multilingual Plane, and some beyond it, 64 in one text.
func TestEveryCharacter(t *testing.T) {
	var text strings.Builder
	for r := rune(0); r < 0x11000; r++ {
		if utf8.ValidRune(r) {
			text.WriteString("a" + string(r) + "b")
		}
		if r%64 == 63 {
			check(t, text.String())
			text.Reset()
		}
	}
}

// TestToJSON reads YAML and JSON.
func TestToJSON(t *testing.T) {
	for doc, want := range map[string]string{"a: 1": `{"a":1}`, "{\"a\":\"\u007f\"}": "{\"a\":\"\u007f\"}", "": "null"} {
		if got, err := ToJSON([]byte(doc)); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v", doc, got, err)
		}
	}
}

func FuzzMarshal(f *testing.F) {
	f.Add("\u007f\u0085\ufeff\\\u0080\"")
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) {
			check(t, text)
		}
	})
}
