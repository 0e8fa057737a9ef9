package description

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSection(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	f, err := parse([]byte(`{"zebra": "first", "updateStatus": "ok", "podID": 7, "empty": "", "none": null, "nothing": {"a": []},
		"startTime": "2026-05-01T11:58:00Z", "soon": "2026-05-01T12:00:30Z", "args": ["a", "b"], "odd": ["a,b", "c"],
		"text": "one\ntwo\n", "web-key": true, "spec": {"targetURLs": {"x": 1.50}},
		"list": [{"name": "n", "deep": {"er": "e"}}, {"name": "m"}, {}, "word"]}`))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	w := newWriter(&b, now)
	w.section(f, 0)
	if err := w.out.Flush(); err != nil {
		t.Fatal(err)
	}
	want := `Zebra:          first
Update Status:  ok
Pod ID:         7
Start Time:     2026-05-01T11:58:00Z (2m ago)
Soon:           2026-05-01T12:00:30Z (in 30s)
Args:           a, b
Odd:
  - a,b
  - c
Text:
  one
  two
web-key:        true
Spec:
  Target URLs:
    X:  1.50
List:
  - Name:  n
    Deep:
      Er:  e
  - Name:  m
  - word
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "[]", "1", `{"a":`, `{"a"}`} {
		if f, err := parse([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, f)
		}
	}
}
