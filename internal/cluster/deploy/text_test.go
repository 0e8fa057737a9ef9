package deploy

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

var _ rest.WarningHandlerWithContext = Warnings{}

func mendOf(err error) string {
	if p, ok := problem.Of(err); ok {
		return p.Mend
	}
	return ""
}

func TestResourceLabel(t *testing.T) {
	for _, name := range []model.ManifestName{"web", "a.b_c-d", "", "shop:deployment", "-x-", "ünï", ":::", model.ManifestName(strings.Repeat("long", 40))} {
		got := ResourceLabel(name)
		if errs := validation.IsValidLabelValue(got); len(errs) > 0 || got == "" {
			t.Errorf("%q: %q: %v", name, got, errs)
		}
	}
	if ResourceLabel("web") != "web" || ResourceLabel("a:b") == ResourceLabel("a/b") {
		t.Error("labels must be readable and distinct")
	}
}

func TestUnknownFields(t *testing.T) {
	prefix := "failed to create typed patch object (ns/web; apps/v1, Kind=Deployment): "
	tests := []struct {
		name, text string
		want       []string
	}{
		{"one", prefix + ".spec.foo: field not declared in schema", []string{".spec.foo"}},
		{"many", prefix + "errors:\n  .spec.b: field not declared in schema\n  .spec.a: field not declared in schema", []string{".spec.a", ".spec.b"}},
		{"mixed", prefix + "errors:\n  .spec.b: field not declared in schema\n  .spec.a: expected string, got &value.valueUnstructured{Value:1}", nil},
		{"other", "boom", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, unknownFields(errors.New(tt.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRemoveAt(t *testing.T) {
	const object = `{spec: {a: 1, a.b: 2, list: [{name: x, num: 1}, {name: "y,z", num: 2}], ports: [{port: 80, prot: x}, {port: 80, protocol: UDP, prot: y}], plain: [{q: 1}, {q: 2}]}}`
	tests := []struct {
		path string
		ok   bool
		want string
	}{
		{".spec.a", true, `{spec: {a.b: 2, list: [{name: x, num: 1}, {name: "y,z", num: 2}], ports: [{port: 80, prot: x}, {port: 80, protocol: UDP, prot: y}], plain: [{q: 1}, {q: 2}]}}`},
		{".spec.a.b", true, `{spec: {a: 1, list: [{name: x, num: 1}, {name: "y,z", num: 2}], ports: [{port: 80, prot: x}, {port: 80, protocol: UDP, prot: y}], plain: [{q: 1}, {q: 2}]}}`},
		{`.spec.list[name="y,z"].num`, true, `{spec: {a: 1, a.b: 2, list: [{name: x, num: 1}, {name: "y,z"}], ports: [{port: 80, prot: x}, {port: 80, protocol: UDP, prot: y}], plain: [{q: 1}, {q: 2}]}}`},
		{`.spec.ports[port=80,protocol="UDP"].prot`, true, `{spec: {a: 1, a.b: 2, list: [{name: x, num: 1}, {name: "y,z", num: 2}], ports: [{port: 80, prot: x}, {port: 80, protocol: UDP}], plain: [{q: 1}, {q: 2}]}}`},
		{`.spec.ports[port=80,protocol="TCP"].prot`, true, `{spec: {a: 1, a.b: 2, list: [{name: x, num: 1}, {name: "y,z", num: 2}], ports: [{port: 80}, {port: 80, protocol: UDP, prot: y}], plain: [{q: 1}, {q: 2}]}}`},
		{".spec.plain[1].q", true, `{spec: {a: 1, a.b: 2, list: [{name: x, num: 1}, {name: "y,z", num: 2}], ports: [{port: 80, prot: x}, {port: 80, protocol: UDP, prot: y}], plain: [{q: 1}, {}]}}`},
		{".spec.none", false, object},
		{".spec.list[name=", false, object},
		{"", false, object},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			got := decode(t, object)
			if ok := removeAt(got, tt.path); ok != tt.ok {
				t.Errorf("ok %v", ok)
			}
			if diff := cmp.Diff(decode(t, tt.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	candidates := []string{"gcr.io/shop/frontend:v1", "redis", "postgres:16"}
	for want, got := range map[string]string{"frontent": "gcr.io/shop/frontend:v1", "rdeis": "redis", "docker.io/me/redis": "redis", "nothing-like-it": ""} {
		if n := nearest(want, candidates); n != got {
			t.Errorf("%s: %q", want, n)
		}
	}
}

func TestWarningsReachTheLog(t *testing.T) {
	log := &recorder{}
	ctx := withLogger(t.Context(), log, "deployment/web")
	Warnings{}.HandleWarningHeaderWithContext(ctx, 299, "-", "v1beta1 is deprecated")
	Warnings{}.HandleWarningHeaderWithContext(context.WithoutCancel(t.Context()), 299, "-", "nobody asked")
	if log.String() != "warn: deployment/web: v1beta1 is deprecated\n" {
		t.Errorf("log %q", log)
	}
}
