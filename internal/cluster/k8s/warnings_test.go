package k8s

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWarnings(t *testing.T) {
	var got []string
	w := newWarnings(func(text string) { got = append(got, text) })
	for _, text := range []string{"a", "b", "a", ""} {
		w.HandleWarningHeaderWithContext(t.Context(), 299, "-", text)
	}
	w.HandleWarningHeaderWithContext(t.Context(), 199, "-", "other code")
	newWarnings(nil).HandleWarningHeaderWithContext(t.Context(), 299, "-", "nobody listens")
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
