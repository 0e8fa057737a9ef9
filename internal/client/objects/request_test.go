package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/base/discovery"
	"github.com/hone-dev/hone/internal/base/problem"
)

// session returns a session with a few kinds, two of which have the same name.
func session() *Client {
	r := func(kind, plural string, short ...string) metav1.APIResource {
		return metav1.APIResource{Name: plural, Kind: kind, SingularName: strings.ToLower(kind), ShortNames: short, Categories: []string{"all" + plural[:1]}}
	}
	return &Client{kinds: kindsOf([]discovery.Group{
		{Name: "tilt.dev", Versions: []discovery.Version{{Name: "v1alpha1", Resources: []metav1.APIResource{r("Session", "sessions"), r("Cmd", "cmds"),
			{Name: "cmds/status", Kind: "Cmd"}, r("UIResource", "uiresources", "uir")}}}},
		{Name: "hone.dev", Versions: []discovery.Version{{Name: "v1alpha1", Resources: []metav1.APIResource{r("Session", "sessions"), r("Forward", "forwards")}}}},
	})}
}

func TestTargets(t *testing.T) {
	for _, tc := range []struct {
		name  string
		of    Request
		want  string
		fails string
	}{
		{name: "a kind", of: Request{Args: []string{"cmds"}}, want: "cmds.tilt.dev all"},
		{name: "its singular", of: Request{Args: []string{"UIResource"}}, want: "uiresources.tilt.dev all"},
		{name: "its short name", of: Request{Args: []string{"uir"}}, want: "uiresources.tilt.dev all"},
		{name: "with the group", of: Request{Args: []string{"sessions.hone.dev"}}, want: "sessions.hone.dev all"},
		{name: "with the version", of: Request{Args: []string{"session.v1alpha1.hone.dev"}}, want: "sessions.hone.dev all"},
		{name: "of two with the same name, the first group's", of: Request{Args: []string{"sessions"}}, want: "sessions.tilt.dev all"},
		{name: "several kinds", of: Request{Args: []string{"cmds,uir"}, Labels: "a=b"}, want: "cmds.tilt.dev all a=b; uiresources.tilt.dev all a=b"},
		{name: "a category", of: Request{Args: []string{"alls"}}, want: "sessions.tilt.dev all; sessions.hone.dev all"},
		{name: "names", of: Request{Args: []string{"cmd", "a", "b"}}, want: "cmds.tilt.dev [a b]"},
		{name: "pairs", of: Request{Args: []string{"cmd/a", "cmds/b", "uir/c", "cmd/d"}}, want: "cmds.tilt.dev [a b]; uiresources.tilt.dev [c]; cmds.tilt.dev [d]"},
		{name: "an id of a table", of: Request{Args: []string{"forwards", "web/80"}}, want: "forwards.hone.dev [web:80]"},
		{name: "an id in a pair", of: Request{Args: []string{"forward/web/80"}}, want: "forwards.hone.dev [web:80]"},
		{name: "nothing", of: Request{Verb: "get"}, fails: "no objects are named"},
		{name: "an unknown kind", of: Request{Args: []string{"cmsd"}}, fails: "did you mean cmds"},
		{name: "the kind of another group", of: Request{Args: []string{"cmds.hone.dev"}}, fails: "did you mean cmds.tilt.dev"},
		{name: "a comma too many", of: Request{Args: []string{"cmds,"}}, fails: "separate kinds by single commas"},
		{name: "an empty name", of: Request{Args: []string{"cmd", "a", ""}}, fails: "hone get cmd lists"},
		{name: "pairs and names", of: Request{Args: []string{"cmd/a", "b"}}, fails: `"b" is not KIND/NAME`},
		{name: "half a pair", of: Request{Args: []string{"cmd/"}}, fails: "is not KIND/NAME"},
		{name: "names and selectors", of: Request{Args: []string{"cmd", "a"}, Labels: "a=b"}, fails: "either the names or the selectors"},
		{name: "names and all", of: Request{Args: []string{"cmd/a"}, All: true}, fails: "either --all or the names"},
		{name: "files and names", of: Request{Args: []string{"cmd"}, Files: []string{"x"}}, fails: "either -f or the names"},
		{name: "an address", of: Request{Files: []string{"https://x"}, Verb: "apply"}, fails: "curl -fsSL https://x | hone apply -f -"},
		{name: "the input", of: Request{Files: []string{"-"}, In: strings.NewReader("apiVersion: tilt.dev/v1alpha1\nkind: Cmd\nmetadata: {name: a}\n")}, want: "cmds.tilt.dev [a]"},
		{name: "another version", of: Request{Files: []string{"-"}, In: strings.NewReader("apiVersion: tilt.dev/v2\nkind: Cmd\nmetadata: {name: a}\n")}, fails: "write: apiVersion: tilt.dev/v1alpha1"},
		{name: "empty input", of: Request{Files: []string{"-"}, In: strings.NewReader("")}, fails: "there are no objects in -"},
	} {
		targets, err := session().Targets(tc.of)
		if tc.fails != "" {
			if err == nil || !strings.Contains(problem.Text(err), tc.fails) {
				t.Errorf("%s: %v, want %q", tc.name, err, tc.fails)
			}
			continue
		}
		var got []string
		for _, target := range targets {
			s := target.Kind.String() + " all"
			if target.Named() {
				s = fmt.Sprint(target.Kind, " ", target.Names)
			}
			got = append(got, strings.TrimSpace(s+" "+target.Labels))
		}
		if diff := cmp.Diff(tc.want, strings.Join(got, "; ")); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", tc.name, err, diff)
		}
	}
}
