package imageref

import (
	"testing"

	"github.com/distribution/reference"
)

const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func parse(t *testing.T, ref string) reference.Named {
	t.Helper()
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		t.Fatal(err)
	}
	return named
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		use      string
		declared []string
		want     string
	}{
		{"base", []string{"base"}, "base"},
		{"base:latest", []string{"base"}, "base"},
		{"base:v1", []string{"base"}, "base"},
		{"base" + digest, []string{"base"}, "base"},
		{"docker.io/library/base", []string{"base"}, "base"},
		{"gcr.io/shop/base:x", []string{"gcr.io/shop/base"}, "gcr.io/shop/base"},
		{"other/base", []string{"base"}, ""},
		{"base:v1", []string{"base:v1"}, "base:v1"},
		{"base:v2", []string{"base:v1"}, ""},
		{"base", []string{"base:v1"}, ""},
		{"base" + digest, []string{"base:v1"}, ""},
		{"base", []string{"base:latest"}, "base:latest"},
		{"base:v1", []string{"base", "base:v1"}, "base:v1"},
		{"base:v1", []string{"base:v1", "base"}, "base:v1"},
		{"base:v2", []string{"base:v1", "base"}, "base"},
		{"base:v3", []string{"base:v1", "base:v2"}, ""},
	} {
		got, _ := Find(parse(t, tt.use), tt.declared, func(ref string) Selector { return Select(parse(t, ref)) })
		if got != tt.want {
			t.Errorf("%s among %q means %q, want %q", tt.use, tt.declared, got, tt.want)
		}
	}
}
