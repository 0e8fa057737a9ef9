package jsonpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const object = `{"spec": {"image": "a", "n": 2, "odd.key": "d",
	"nodes": [{"name": "x", "image": "b", "port": 1}, {"name": "y", "image": "c", "port": 2}, {"image": "e", "deep": {"image": "f"}}]}}`

func decode(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFind(t *testing.T) {
	for _, tc := range []struct{ path, want string }{
		{"{.spec.image}", "a"}, {"spec.image", "a"}, {"$.spec.image", "a"}, {"{ $.spec['image'] }", "a"},
		{"{.spec.nodes[*].image}", "b c e"}, {".spec.nodes[1].image", "c"}, {".spec.nodes[-1].image", "e"},
		{".spec.nodes[7].image", ""}, {".spec.nodes[0,2].image", "b e"}, {".spec.nodes[1:].image", "c e"},
		{".spec.nodes[:-1].image", "b c"}, {".spec.nodes[::2].image", "b e"}, {".spec.nodes[:9].image", "b c e"},
		{`.spec.nodes[?(@.name=="x")].image`, "b"}, {`.spec.nodes[?(@.name!='x')].image`, "c"},
		{`.spec.nodes[?(@.name)].image`, "b c"}, {`.spec.nodes[?(@.port==2)].image`, "c"},
		{`.spec.nodes[?(@.deep.image == "f")].image`, "e"}, {`.spec.nodes[?(@['name']=="y]")].image`, ""},
		{`.spec['odd.key']`, "d"}, {`.spec.odd\.key`, "d"}, {`.spec["image","odd.key"]`, "a d"},
		{"..image", "a b c e f"}, {".spec.nodes..image", "b c e f"}, {"..[0].image", "b"},
		{".spec.none[*].x", ""}, {".spec.image.x", ""}, {".spec.n", "2"},
	} {
		p, err := Parse(tc.path)
		if err != nil {
			t.Errorf("%s: %v", tc.path, err)
			continue
		}
		var got []string
		for _, v := range p.Find(decode(t, object)) {
			got = append(got, fmt.Sprint(v))
		}
		if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.path, diff)
		}
		if p.String() != tc.path {
			t.Errorf("%s is shown as %s", tc.path, p)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "{}", "...x", ".a[", ".a[?(x)]", ".a]b[", ".a[1", ".a['b]", ".a['b'c]", ".a[b]", ".a[1:2:0]",
		".a[1:2:3:4]", ".a[x:]", ".a[?(@.b==c)]", ".a[?(@.b", "..", ".", ".a.", ".a['b',]"} {
		if p, err := Parse(text); err == nil {
			t.Errorf("%q is read as %+v", text, p)
		}
	}
}

func TestEachReplaces(t *testing.T) {
	root := decode(t, object)
	p, err := Parse("..image")
	if err != nil {
		t.Fatal(err)
	}
	err = p.Each(root, func(v any, set func(any)) error {
		set(fmt.Sprintf("new-%v", v))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"new-a", "new-b", "new-c", "new-e", "new-f"}, p.Find(root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	failed := fmt.Errorf("enough")
	calls := 0
	if err := p.Each(root, func(any, func(any)) error { calls++; return failed }); !errors.Is(err, failed) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// FuzzParse checks that every path that can be parsed can be evaluated, and that parsing it again gives the same path.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"{.spec.image}", "..image", ".a[?(@.b=='c')].d", ".a[1:-1]", `.a\.b["c"]`, ".a[0,1]['x','y']"} {
		f.Add(s)
	}
	root := decode(f, object)
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(p.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.Find(root), again.Find(root)); diff != "" {
			t.Error(diff)
		}
	})
}
