package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/client/objects"
)

// printedJSON returns the printer's output for documents.
func printedJSON(docs []jsontext.Value, single bool) (string, error) {
	found := objects.Found{Documents: docs}
	if err := found.Decode(); err != nil {
		return "", err
	}
	f := Flags{Output: "json"}
	p, err := f.Printer()
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if single {
		err = p.PrintObj(&found.Objects[0], &b)
	} else {
		list := newList()
		list.Items = append(list.Items, found.Objects...)
		err = p.PrintObj(list, &b)
	}
	return b.String(), err
}

// checkFormat compares the output of format with the printer's output. It reports whether format accepted the documents.
func checkFormat(t *testing.T, docs []jsontext.Value, single bool) bool {
	t.Helper()
	text, ok := format(docs, single)
	if !ok {
		return false
	}
	want, err := printedJSON(docs, single)
	if err != nil {
		t.Fatalf("formatted, but the printer returns: %v\n%s", err, docs)
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("not as printed:\n%s", diff)
	}
	return true
}

// TestFormatKinds formats an object of every kind as the session writes it, with its fields in their order.
func TestFormatKinds(t *testing.T) {
	var all []jsontext.Value
	for _, k := range projection.All() {
		golden, err := os.ReadFile(filepath.Join("..", "..", "..", "api", "projection", "testdata", k.Plural+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var docs []jsontext.Value
		for _, part := range strings.Split(string(golden), "\n---\n")[1:] { // the first is a table
			o := k.New()
			if err := yaml.UnmarshalStrict([]byte(part), o); err != nil {
				t.Fatalf("%s: %v", k.Name, err)
			}
			doc, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
			if !checkFormat(t, docs[len(docs)-1:], true) {
				t.Errorf("left to the printer: %s", doc)
			}
		}
		if len(docs) == 0 {
			t.Errorf("there is no %s", k.Name)
		}
		all = append(all, docs...)
	}
	if !checkFormat(t, all, false) {
		t.Error("the list of all was left to the printer")
	}
}

// nasty are values that test how texts, numbers and names are written.
var nasty = []struct {
	value string
	left  bool // to the printer
}{
	{value: `{}`}, {value: `[]`}, {value: `[{},[],[[]],""]`}, {value: `null`}, {value: `{"b":true,"a":false,"":null}`},
	{value: `"<a href=\"x\">&amp;</a>"`}, {value: `{"<&>":1,"a":2,"=":3}`}, {value: "\"\u2028\u2029\""}, {value: `"\u2028\u003c\u00e9\/\ud83d\ude00"`},
	{value: `"\b\f\n\r\t\u0000\u001f\u007f\\\""`}, {value: "\"\u007f\u0085\ufeff\ufffd\""}, {value: `"\": 1"`}, {value: `["\": 1",  "1" ,"x,","1,"]`},
	{value: `{"z":{"z":1,"a":[{"y":1,"x":2}]},"Z":0,"a1":1,"a":2,"a-":3,"\u0061b":4,"ä":5,"中":6}`},
	{value: `"🚀"`}, {value: `{"x":"🚀","y":["🚀"],"中":"\": 🚀"}`}, {value: `{"🚀":1}`, left: true}, {value: "{\"\\ud83d\\ude00\":1,\"\uff01\":2}", left: true},
	{value: `0`}, {value: `-1`}, {value: `9223372036854775807`}, {value: `-9223372036854775808`}, {value: `0.5`}, {value: `1.5e-7`}, {value: `1e+21`},
	{value: `100000000000000000000`}, {value: `-0`, left: true}, {value: `-0.0`, left: true}, {value: `1.0`, left: true}, {value: `1e3`, left: true},
	{value: `1E400`, left: true}, {value: `18446744073709551615`, left: true}, {value: `0.1000`, left: true}, {value: `[1,2.50]`, left: true},
	{value: `{"a":1,"a":2}`, left: true}, {value: `{"a":1,"\u0061":2}`, left: true}, {value: "\"\xff\"", left: true}, {value: `"\ud800"`, left: true},
	{value: `{"managedFields":[{}]}`, left: true}, {value: `{"managed\u0046ields":[]}`, left: true}, {value: `{`, left: true}, {value: `1 2`, left: true}, {value: ``, left: true},
	{value: strings.Repeat("[", 64) + strings.Repeat("]", 64)},
}

func withValue(value string) []jsontext.Value {
	return []jsontext.Value{jsontext.Value(`{"kind":"A","apiVersion":"a/v1","metadata":{"name":"x"},"spec":` + value + `}`)}
}

func TestFormatNasty(t *testing.T) {
	for _, tc := range nasty {
		for _, single := range []bool{true, false} {
			if ok := checkFormat(t, withValue(tc.value), single); ok == tc.left {
				t.Errorf("%s: formatted: %t", tc.value, ok)
			}
		}
	}
	for exponent := -323; exponent <= 308; exponent++ {
		for _, f := range []float64{math.Pow(10, float64(exponent)), -1.2345678901234567 * math.Pow(10, float64(exponent))} {
			if doc, err := json.Marshal(f); err != nil || !checkFormat(t, withValue(string(doc)), true) {
				t.Errorf("%s was left to the printer: %v", doc, err)
			}
		}
	}
}

// TestPrintAll prints documents that format accepts, and documents that it does not accept.
func TestPrintAll(t *testing.T) {
	f := Flags{Output: "json"}
	p, err := f.Printer()
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{`"a"`, `1.0`, "\"\xff\"", `{"a":1,"a":2}`} {
		for _, single := range []bool{true, false} {
			docs := withValue(value)
			want, err := printedJSON(docs, single)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := printAll(p, objects.Found{Documents: docs}, single, &b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, b.String()); diff != "" {
				t.Errorf("%s:\n%s", value, diff)
			}
		}
	}
	var b bytes.Buffer
	if err := printAll(p, objects.Found{}, false, &b); err != nil || !strings.Contains(b.String(), `"items": [],`) {
		t.Errorf("an empty list is printed as %q: %v", b.String(), err)
	}
	b.Reset()
	managed := []jsontext.Value{jsontext.Value(`{"kind":"A","metadata":{"managedFields":[{}]}}`)}
	if err := printAll(p, objects.Found{Documents: managed}, true, &b); err != nil || strings.Contains(b.String(), "managed") {
		t.Errorf("managed fields are printed: %q: %v", b.String(), err)
	}
	if err := printAll(p, objects.Found{Documents: withValue("{")}, true, &b); err == nil {
		t.Error("printed invalid JSON")
	}
}

func FuzzFormat(f *testing.F) {
	for _, tc := range nasty {
		f.Add(tc.value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		checkFormat(t, withValue(value), true)
		checkFormat(t, append(withValue(value), withValue(value)...), false)
	})
}

// BenchmarkFormat formats 1,000 resources; BenchmarkPrint prints them with the printer.
func BenchmarkFormat(b *testing.B) {
	docs := thousand(b)
	for b.Loop() {
		if text, ok := format(docs, false); !ok || len(text) < 1e6 {
			b.Fatal("left to the printer")
		}
	}
}

func BenchmarkPrint(b *testing.B) {
	docs := thousand(b)
	for b.Loop() {
		if text, err := printedJSON(docs, false); err != nil || len(text) < 1e6 {
			b.Fatal(err)
		}
	}
}

func thousand(b *testing.B) (docs []jsontext.Value) {
	golden, err := os.ReadFile(filepath.Join("..", "..", "..", "api", "projection", "testdata", "uiresources.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	parts := strings.Split(string(golden), "\n---\n")
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(parts[len(parts)-1]), &o.Object); err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		o.SetName(fmt.Sprintf("r%d", i))
		doc, err := json.Marshal(o.Object)
		if err != nil {
			b.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}
