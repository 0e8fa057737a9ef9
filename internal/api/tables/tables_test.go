package tables

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/api/schema"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestValue(t *testing.T) {
	type inner struct{ X int }
	type node struct {
		Next *node
		N    int
	}
	loop := &node{N: 1}
	loop.Next = loop
	type embedded struct{ A, B string }
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	for _, tc := range []struct {
		name string
		v    any
		want string
	}{
		{"names", struct {
			CITimeout time.Duration
			PID       int
			URL, K8s  string
		}{time.Minute, 0, "u", "k"}, `{"ciTimeout":"1m0s","k8s":"k","pid":0,"url":"u"}`},
		{"nothing empty", struct {
			S  string
			L  []string
			M  map[string]int
			P  *int
			T  time.Time
			D  time.Duration
			B  bool
			N  int
			In inner
		}{}, `{"b":false,"n":0}`},
		{"values without a meaning outside the program", struct {
			F      func()
			C      chan int
			Fs     []func()
			hidden string
			Shown  string
		}{func() {}, make(chan int), []func(){nil}, "h", "s"}, `{"shown":"s"}`},
		{"embedded", struct {
			embedded
			B string
		}{embedded{"a", "b"}, "own"}, `{"a":"a","b":"own"}`},
		{"embedded and exported", state.Pod{Pod: model.Pod{Name: "p"}, Current: true}, ``},
		{"times", struct{ At time.Time }{now}, `{"at":"2026-01-02T02:04:05.000000006Z"}`},
		{"words for numbers", struct{ M model.TriggerMode }{model.TriggerManual}, `{"m":"manual"}`},
		{"maps", map[model.TargetID]map[string]time.Time{{Type: "image", Name: "web"}: {"/a": now}}, `{"image:web":{"/a":"2026-01-02T02:04:05.000000006Z"}}`},
		{"types that show a different value", struct {
			G guests
			N guests
		}{G: guests{[]string{"a"}}}, `{"g":{"a":true}}`},
		{"changes", struct {
			C map[model.TargetID]state.Changes
			D state.Changes
		}{C: map[model.TargetID]state.Changes{{Type: "image", Name: "web"}: state.Changes{}.With([]string{"/a"}, now)}},
			`{"c":{"image:web":{"/a":"2026-01-02T02:04:05.000000006Z"}}}`},
		{"errors", struct{ Err error }{errors.New("oops")}, `{"err":"oops"}`},
		{"bytes", []byte("text"), `"text"`},
		{"no number", []float64{math.NaN(), 1.5}, `["NaN",1.5]`},
		{"JSON", json.RawMessage(`{"a":1}`), `{"a":1}`},
		{"secrets", model.Secret{Name: "n", Key: "k", Value: "pssst"}, `{"key":"k","name":"n"}`},
		{"objects with secrets", model.K8sObject{APIVersion: "v1", Kind: "Secret", Name: "s",
			JSON: `{"data":{"a":"eA=="},"stringData":{"b":"y"},"metadata":{"name":"s","annotations":{"last":"eA=="}}}`},
			`{"apiVersion":"v1","json":"{\"data\":{\"a\":\"[hidden]\"},\"metadata\":{\"name\":\"s\"},\"stringData\":{\"b\":\"[hidden]\"}}","kind":"Secret","name":"s"}`},
		{"hidden inputs", state.Button{Button: model.Button{Name: "b", Inputs: []model.Input{{Name: "T", Kind: model.InputHidden, Default: "pssst"}}},
			Click: state.Click{Inputs: map[string]string{"T": "pssst", "U": "x"}}}, ``},
		{"projects", model.ComposeFile{Content: "password: x"}, `{"content":"[hidden]"}`},
		{"nil", nil, `null`},
	} {
		got, err := json.Marshal(Value(tc.v))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if tc.want != "" && string(got) != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		if strings.Contains(string(got), "pssst") {
			t.Errorf("%s: a secret in %s", tc.name, got)
		}
	}
	if _, err := json.Marshal(Value(loop)); err != nil {
		t.Error(err)
	}
}

// guests are shown as a map.
type guests struct{ names []string }

func (g guests) Shown() any {
	m := map[string]bool{}
	for _, n := range g.names {
		m[n] = true
	}
	return m
}

// TestShown checks that a schema describes the shown form of a value.
func TestShown(t *testing.T) {
	want := map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "boolean"}}
	for _, typ := range []reflect.Type{reflect.TypeFor[guests](), reflect.TypeFor[*guests]()} {
		if diff := cmp.Diff(want, schema.NewDefinitions("#/").Define(typ)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", typ, diff)
		}
	}
}

func TestName(t *testing.T) {
	ids := []string{"web", "web/80", "web/localhost:80", "(Tiltfile)", "a%b", ".", "..", "a~/b", "a/~b", "a:/b", "a/:b"}
	seen := map[string]string{}
	for _, id := range ids {
		n := Name(id)
		if strings.ContainsAny(n, "/%") || n == "." || n == ".." {
			t.Errorf("%s: %s cannot stand in a path", id, n)
		}
		if other, ok := seen[n]; ok {
			t.Errorf("%s and %s are both %s", id, other, n)
		}
		seen[n] = id
	}
	if Name("web/80") != "web:80" {
		t.Error(Name("web/80"))
	}
}

// fill sets everything in a value that can be set to something that is not zero, so that no type of a table is left out.
func fill(v reflect.Value, depth int) {
	switch {
	case depth > 12 || !v.CanSet():
		return
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
		return
	case v.Type() == reflect.TypeFor[state.Changes]():
		v.Set(reflect.ValueOf(state.Changes{}.With([]string{"/x"}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	}
}

// TestEveryTable encodes a filled value of each table, checks that its schema describes every field of it, and that it
// fits into the columns.
func TestEveryTable(t *testing.T) {
	names := map[string]string{}
	for i, k := range All(state.Schema) {
		info := state.Schema.Tables()[i]
		if other, ok := names[k.Name]; ok {
			t.Errorf("%s and %s are both a %s", k.Plural, other, k.Name)
		}
		names[k.Name] = k.Plural
		v := reflect.New(info.Value).Elem()
		fill(v, 0)
		row := &Row{Entry: Value(v.Interface()), value: v.Interface(), status: "ok", cluster: "eu"}
		doc, err := json.Marshal(row)
		if err != nil {
			t.Errorf("%s: %v", k.Plural, err)
			continue
		}
		if m, _ := row.Entry.(map[string]any); len(m) == 0 {
			t.Errorf("%s is shown as %s", k.Plural, doc)
		}
		d := schema.NewDefinitions("#/")
		o := d.Object(k.New(), "object", k.Doc)
		entry := o["properties"].(map[string]any)["entry"].(map[string]any)
		describes(t, k.Plural, d, entry, row.Entry)
		if len(chosen[k.Plural]) == 0 {
			t.Errorf("no columns are defined for %s", k.Plural)
		}
		for _, c := range chosen[k.Plural] {
			if cell := c.Value(row); cell == "" && c.Name != "Took" { // nothing takes any time here
				t.Errorf("%s: the column %s is empty for a filled entry", k.Plural, c.Name)
			}
		}
	}
}

// describes checks that a schema has every field of a document.
func describes(t *testing.T, where string, d *schema.Definitions, s map[string]any, doc any) {
	t.Helper()
	if all, ok := s["allOf"].([]any); ok {
		s = all[0].(map[string]any)
	}
	if ref, ok := s["$ref"].(string); ok {
		s, _ = d.All[strings.TrimPrefix(ref, d.Prefix)].(map[string]any)
	}
	switch x := doc.(type) {
	case map[string]any:
		if extra, ok := s["additionalProperties"].(map[string]any); ok {
			for k, v := range x {
				describes(t, where+"."+k, d, extra, v)
			}
			return
		}
		properties, _ := s["properties"].(map[string]any)
		for k, v := range x {
			p, ok := properties[k].(map[string]any)
			if !ok {
				t.Errorf("%s: the schema lacks %q", where, k)
				continue
			}
			describes(t, where+"."+k, d, p, v)
		}
	case []any:
		items, ok := s["items"].(map[string]any)
		if !ok {
			t.Errorf("%s: the schema has no list", where)
			return
		}
		for _, v := range x {
			describes(t, where+"[]", d, items, v)
		}
	case string:
		if s["type"] != "string" {
			t.Errorf("%s: a string, the schema has %v", where, s["type"])
		}
	case bool:
		if s["type"] != "boolean" {
			t.Errorf("%s: a bool, the schema has %v", where, s["type"])
		}
	}
}

// TestMachine checks the objects of the loop and the subscribers.
func TestMachine(t *testing.T) {
	s := store.New(state.Schema)
	s.Dispatch(state.SessionStarted{}, store.SubscriberReported{Name: "Sub", State: store.SubscriberBackingOff, Crashes: 2, Err: "oops"})
	s.Step()
	all := Machine(numbers{s})
	var got []any
	for _, k := range all {
		for it := range k.Items(s.Snapshot().All()) {
			o := it.Make()
			row := []any{o.GetName()}
			for _, c := range k.Columns {
				if c.Name != "Busy" && c.Name != "Average" && c.Name != "Slowest" && c.Name != "Last" {
					row = append(row, c.Value(o))
				}
			}
			got = append(got, row)
			if it.Key != it.Key { //nolint:gocritic // a key that holds NaN differs from itself
				t.Errorf("the key of %s differs from itself", it.Name)
			}
		}
	}
	want := []any{[]any{"Sub", "backing off", int64(3), int64(4), int64(5), int64(2), "oops"}, []any{"session", int64(1), int64(2), int64(0)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// numbers is a store with the statistics of one subscriber.
type numbers struct{ *store.Store }

func (numbers) Subscribers() []store.SubscriberStats {
	return []store.SubscriberStats{{Name: "Sub", Wakes: 3, Reads: 4, Writes: 5, Busy: time.Second, Crashes: 2, LastError: "oops"}}
}
