package tiltfile

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAPIOrder checks that repositories and extensions are registered while the program still runs, as load needs them.
func TestAPIOrder(t *testing.T) {
	res := loadText(t, "v1alpha1.extension_repo('b', url='https://example.com/b')\nv1alpha1.extension_repo('a', url='file:///a')\n"+
		"v1alpha1.extension('z', repo_name='b')\nv1alpha1.extension('y', repo_name='a')\n", nil)
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	var got []string
	for _, r := range res.ExtensionRepos {
		got = append(got, r.Name)
	}
	for _, e := range res.Extensions {
		got = append(got, e.Name)
	}
	if diff := cmp.Diff([]string{"b", "a", "z", "y"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// slow are builtins that run other programs, or that take long.
var slow = regexp.MustCompile(`[\n\r;*]|local\(|helm|kustomize|range|for\s|listdir|read_|load|include`)

// FuzzAPI calls constructors with arguments of all kinds: none may panic.
func FuzzAPI(f *testing.F) {
	for _, s := range []string{
		"ui_button('x', text='X', location={'component_type': 'global', 'component_id': 'nav'}, inputs=[{'name': 'A', 'bool': {}}])",
		"cmd('x', args=['a'], start_on={'ui_buttons': ['b']}, readiness_probe={'handler': {'exec': {'command': ['a']}}})",
		"kubernetes_apply('x', yaml='a', image_locators=[{'object_selector': {}, 'path': 'a'}])",
		"file_watch('x', watched_paths=('a',), ignores=[{}])", "forward(1, 2, 3)", "probe(None)", "config_map('x', data={1: 2})",
		"label_selector({'a': 'b'}, [label_selector_requirement('a', 'In', ['b'])])",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, call string) {
		if slow.MatchString(call) {
			return
		}
		res := loadText(t, "x = v1alpha1."+call+"\nprint(x, dir(x))\n", nil)
		for _, k := range res.Kept {
			if !strings.HasPrefix(k.Spec, "{") {
				t.Errorf("%s gave %q", call, k.Spec)
			}
		}
	})
}
