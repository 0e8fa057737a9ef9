package deploy

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestIsLacking(t *testing.T) {
	widgets := schema.GroupResource{Group: "example.com", Resource: "widgets"}
	unknownPath := apierrors.NewGenericServerResponse(http.StatusNotFound, "PATCH", widgets, "one", "404 page not found", 0, true)
	for _, tc := range []struct {
		name string
		err  error
		want bool
	}{
		{"nothing", nil, false},
		{"the namespace", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "shop"), true},
		{"the kind", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "example.com", Kind: "Widget"}}, true},
		{"a kind whose definition was deleted", unknownPath, true},
		{"one of several", fmt.Errorf("apply: %w", errors.Join(errors.New("other"), unknownPath)), true},
		{"room", apierrors.NewForbidden(widgets, "one", errors.New("exceeded quota: q")), true},
		{"an object", apierrors.NewNotFound(widgets, "one"), false},
		{"permission", apierrors.NewForbidden(widgets, "one", errors.New("no")), false},
	} {
		if got := IsLacking(tc.err); got != tc.want {
			t.Errorf("%s: %t, want %t", tc.name, got, tc.want)
		}
	}
}
