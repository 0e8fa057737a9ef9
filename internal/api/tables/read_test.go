package tables

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// decoded is a value of the store after encoding to JSON and decoding.
func decoded(t *testing.T, v any) any {
	t.Helper()
	doc, err := json.Marshal(Value(v))
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(doc, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestReadEveryTable reads back a filled value of each table: nothing that Value shows may be lost.
func TestReadEveryTable(t *testing.T) {
	for _, info := range state.Schema.Tables() {
		v := reflect.New(info.Value)
		fill(v.Elem(), 0)
		want := decoded(t, v.Elem().Interface())
		got := reflect.New(info.Value)
		if err := Read(want, got.Interface()); err != nil {
			t.Errorf("%s: %v", info.Name, err)
			continue
		}
		if info.Name == state.Events.Name() { // the content of an event can be of any type
			delete(want.(map[string]any), "what")
		}
		if diff := cmp.Diff(want, decoded(t, got.Elem().Interface())); diff != "" {
			t.Errorf("%s (-written +read):\n%s", info.Name, diff)
		}
	}
}

// TestReadWords reads every set of reasons, and numbers that are written as words.
func TestReadWords(t *testing.T) {
	for r := range 1 << 7 {
		var got state.BuildReason
		if err := Read(decoded(t, state.BuildReason(r)), &got); err != nil || got != state.BuildReason(r) {
			t.Errorf("%q is read as %q (%v)", state.BuildReason(r), got, err)
		}
	}
	for _, m := range []model.TriggerMode{model.TriggerAuto, model.TriggerManual} {
		var got model.TriggerMode
		if err := Read(decoded(t, m), &got); err != nil || got != m {
			t.Errorf("%q is read as %q (%v)", m, got, err)
		}
	}
}

// TestReadValues reads values of any type, which are the ones of fields of objects.
func TestReadValues(t *testing.T) {
	at := []any{int64(3), 1.5, "x", true, map[string]any{"a": []any{int64(1)}}}
	want := state.ObjectDrift{Fields: []api.FieldChange{{Path: "data", From: at, To: "mine"}}}
	doc, err := json.Marshal(Value(want))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	var got state.ObjectDrift
	if err := Read(tree, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Fields, got.Fields); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReadOthers reads documents that Value does not write.
func TestReadOthers(t *testing.T) {
	for doc, want := range map[string]string{
		`{"serial":"x"}`:              "serial: expected a number, got x",
		`{"serial":{}}`:               "serial: expected a number, got map[]",
		`{"startedAt":1}`:             "startedAt: expected a string, got 1",
		`{"cancelled":"yes"}`:         "cancelled: expected true or false, got yes",
		`{"files":{}}`:                "files: expected a list, got map[]",
		`{"files":["a",1]}`:           "files: 1: expected a string, got 1",
		`[]`:                          "expected an object, got []",
		`{"reason":"never heard of"}`: "reason: expected one of the words of state.BuildReason, got never heard of",
		`{"unheard":1,"serial":2}`:    "",
		`null`:                        "",
	} {
		var tree any
		if err := json.Unmarshal([]byte(doc), &tree); err != nil {
			t.Fatal(err)
		}
		var b state.Build
		got := ""
		if err := Read(tree, &b); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"serial":1,"containers":[{"stages":{"sent":"1ms"}}],"reason":"initial build, triggered"}`))
	f.Add([]byte(`{"next":{"next":{}},"manifest":{"k8s":{"objects":[{"json":"{}"}]},"triggerMode":"manual"}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var tree any
		if json.Unmarshal(doc, &tree) != nil {
			return
		}
		for _, info := range state.Schema.Tables() {
			v := reflect.New(info.Value)
			if Read(tree, v.Interface()) == nil {
				Value(v.Elem().Interface())
			}
		}
	})
}
