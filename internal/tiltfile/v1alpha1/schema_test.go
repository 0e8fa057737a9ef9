package v1alpha1

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/v1alpha1.golden")

// TestAPISchema checks that the table of types is complete.
func TestAPISchema(t *testing.T) {
	for name, typ := range apiTypes {
		if typ.doc == "" || (typ.kind == "") != (typ.declare == nil) {
			t.Errorf("%s: %+v", name, typ)
		}
		seen := map[string]bool{}
		for _, f := range typ.fields {
			part := f.kind == fieldOne || f.kind == fieldMany
			if part != (f.of != "") || part && apiTypes[f.of] == nil {
				t.Errorf("%s.%s is made of %q", name, f.name, f.of)
			}
			if f.doc == "" || !strings.HasSuffix(f.doc, ".") || seen[f.name] {
				t.Errorf("%s.%s: %q", name, f.name, f.doc)
			}
			seen[f.name] = true
		}
	}
}

// TestAPIReference checks testdata/v1alpha1.golden, which lists every type with its fields and their names in JSON.
func TestAPIReference(t *testing.T) {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(apiTypes)) {
		typ := apiTypes[name]
		fmt.Fprintf(&b, "%s %s\n  %s\n", name, typ.kind, typ.doc)
		for _, f := range typ.fields {
			what := string(f.kind)
			switch f.kind {
			case fieldOne:
				what = f.of
			case fieldMany:
				what = "list of " + f.of
			default: // of is only set for the kinds above
			}
			if f.required {
				what += ", required"
			}
			fmt.Fprintf(&b, "    %s (%s) %s: %s\n", f.name, f.json(), what, f.doc)
		}
	}
	file := filepath.Join("testdata", "v1alpha1.golden")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the reference differs (-want +got):\n%s", diff)
	}
}
