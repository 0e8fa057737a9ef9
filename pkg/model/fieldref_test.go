package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFieldRef(t *testing.T) {
	for _, tt := range []struct{ object, path, want string }{
		{"service/db", "spec.clusterIP", "{service  db spec.clusterIP}"},
		{"Service/shop/db", "spec.ports[0].nodePort", "{Service shop db spec.ports[0].nodePort}"},
		{"certificate.cert-manager.io/web", "status['x']", "{certificate.cert-manager.io  web status['x']}"},
		{"service", "spec", `"service" is not an object such as service/db or service/shop/db`},
		{"service/", "spec", `"service/" is not an object such as`},
		{"service//db", "spec", `"service//db" is not an object such as`},
		{"a/b/c/d", "spec", `"a/b/c/d" is not an object such as`},
		{"service/db", "", "have no parentheses"},
		{"service/db", "spec.ports[?(@.name=='x')]", "have no parentheses"},
		{"service/d:b", "spec", "an object has no colon"},
		{"Secret/token", "data.x", "the values of a Secret would get into other objects"},
		{"secrets/shop/token", "data.x", "the values of a Secret would get into other objects"},
	} {
		r, err := ParseFieldRef(tt.object, tt.path)
		got := fmt.Sprint(r)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s, %s: %s, want %s", tt.object, tt.path, got, tt.want)
		}
		if err == nil {
			again, err := FieldRefs("x" + r.Token() + "y" + r.Token())
			if diff := cmp.Diff([]FieldRef{r, r}, again); diff != "" || err != nil {
				t.Errorf("%s: %v %s", r.Token(), err, diff)
			}
		}
	}
	if _, err := FieldRefs("$(hone.ref:secret/x:data.y)"); err == nil {
		t.Error("a reference to a Secret in YAML is accepted")
	}
}

func TestFieldRefNames(t *testing.T) {
	for _, tt := range []struct {
		object, namespace string
		id                ObjectID
		want              bool
	}{
		{"service/db", "", ObjectID{Kind: "Service", Name: "db"}, true},
		{"service/db", "shop", ObjectID{Kind: "Service", Namespace: "shop", Name: "db"}, true},
		{"service/db", "shop", ObjectID{Kind: "Service", Namespace: "other", Name: "db"}, false},
		{"service/shop/db", "other", ObjectID{Kind: "Service", Namespace: "shop", Name: "db"}, true},
		{"service/db", "", ObjectID{Kind: "Deployment", Name: "db"}, false},
		{"Deployment.apps/db", "", ObjectID{Group: "apps", Kind: "Deployment", Name: "db"}, true},
		{"Deployment.other/db", "", ObjectID{Group: "apps", Kind: "Deployment", Name: "db"}, false},
		{"namespace/x", "shop", ObjectID{Kind: "Namespace", Name: "x"}, true},
	} {
		r, err := ParseFieldRef(tt.object, "a")
		if got := r.Names(tt.id, tt.namespace); err != nil || got != tt.want {
			t.Errorf("%s in %q names %v: %v, %v", tt.object, tt.namespace, tt.id, got, err)
		}
	}
}

func TestReplaceFieldRefs(t *testing.T) {
	got := ReplaceFieldRefs("a $(hone.ref:service/db:spec.x) $(HOME) $(hone.ref:service/db:spec.y)!", func(r FieldRef) string { return strings.ToUpper(r.Path) })
	if want := "a SPEC.X $(HOME) SPEC.Y!"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// FuzzFieldRefs reads references in any text: each one that is found is written as it was read, and replacing each by its own token
// changes nothing.
func FuzzFieldRefs(f *testing.F) {
	f.Add("a $(hone.ref:service/db:spec.x) b $(hone.ref:a/b/c:d['e']) $(hone.ref:x:y) $(hone.ref:")
	f.Fuzz(func(t *testing.T, text string) {
		refs, err := FieldRefs(text)
		for _, r := range refs {
			if !strings.Contains(text, r.Token()) {
				t.Errorf("%q has no %q", text, r.Token())
			}
		}
		if got := ReplaceFieldRefs(text, FieldRef.Token); err == nil && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
