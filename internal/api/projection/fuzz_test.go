package projection

import (
	"strings"
	"testing"
)

// FuzzSplitYAML splits arbitrary text into documents: none is lost.
func FuzzSplitYAML(f *testing.F) {
	f.Add("a: 1\n---\nb: 2\n--- \n\n---\r\nc: |\n  ---\n")
	f.Fuzz(func(t *testing.T, in string) {
		rest := in
		for _, doc := range splitYAML(in) {
			_, after, ok := strings.Cut(rest, doc)
			if !ok || strings.TrimSpace(doc) == "" {
				t.Fatalf("document %q of %q", doc, in)
			}
			rest = after
		}
	})
}
