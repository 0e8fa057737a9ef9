package imagebuild

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

func ptr[T any](v T) *T { return &v }

func TestRewrite(t *testing.T) {
	t.Setenv("HONE_TEST_BASE", "base")
	deps := map[string]model.ImageResult{
		"base":            {Local: "localhost:5000/base:hone-1"},
		"tools:v2":        {Local: "tools:hone-2"},
		"gcr.io/shop/lib": {Local: "localhost:5000/gcr.io_shop_lib:hone-3"},
	}
	tests := []struct {
		name string
		in   string
		args map[string]*string
		want string
		uses []string
	}{
		{"from", "FROM base\nRUN x\n", nil, "FROM localhost:5000/base:hone-1\nRUN x\n", []string{"base"}},
		{"any tag", "from base:dev as x", nil, "from localhost:5000/base:hone-1 as x", []string{"base:dev"}},
		{"other image", "FROM golang:1.26\n", nil, "FROM golang:1.26\n", []string{"golang:1.26"}},
		{"tag matters", "FROM tools:v1\nCOPY --from=tools:v2 /a /a\n", nil,
			"FROM tools:v1\nCOPY --from=tools:hone-2 /a /a\n", []string{"tools:v1", "tools:v2"}},
		{"flag", "FROM --platform=linux/amd64 base AS b\r\nRUN y\r\n", nil,
			"FROM --platform=linux/amd64 localhost:5000/base:hone-1 AS b\r\nRUN y\r\n", []string{"base"}},
		{"stage names win", "FROM golang AS base\nFROM base\nCOPY --from=base / /\nCOPY --from=0 / /\n", nil,
			"FROM golang AS base\nFROM base\nCOPY --from=base / /\nCOPY --from=0 / /\n", []string{"golang"}},
		{"arg default", "ARG IMG=base\nFROM ${IMG}\n", nil, "ARG IMG=base\nFROM localhost:5000/base:hone-1\n", []string{"base"}},
		{"arg in part", "ARG V=latest\nFROM gcr.io/shop/lib:$V\n", nil,
			"ARG V=latest\nFROM localhost:5000/gcr.io_shop_lib:hone-3\n", []string{"gcr.io/shop/lib:latest"}},
		{"arg given", "ARG IMG=alpine\nFROM $IMG\n", map[string]*string{"IMG": ptr("base")},
			"ARG IMG=alpine\nFROM localhost:5000/base:hone-1\n", []string{"base"}},
		{"arg from environment", "ARG HONE_TEST_BASE\nFROM $HONE_TEST_BASE\n", map[string]*string{"HONE_TEST_BASE": nil},
			"ARG HONE_TEST_BASE\nFROM localhost:5000/base:hone-1\n", []string{"base"}},
		{"arg of an earlier stage", "FROM golang AS one\nARG IMG=base\nFROM ${IMG}\n", nil,
			"FROM golang AS one\nARG IMG=base\nFROM localhost:5000/base:hone-1\n", []string{"golang", "base"}},
		{"arg of an earlier stage given", "FROM golang AS one\nARG IMG\nFROM ${IMG}\n", map[string]*string{"IMG": ptr("base")},
			"FROM golang AS one\nARG IMG\nFROM localhost:5000/base:hone-1\n", []string{"golang", "base"}},
		{"stages leave global args alone", "ARG IMG=alpine\nFROM golang AS one\nARG IMG=base\nFROM ${IMG}\n", nil,
			"ARG IMG=alpine\nFROM golang AS one\nARG IMG=base\nFROM ${IMG}\n", []string{"golang", "alpine"}},
		{"mount", "FROM golang\nRUN --mount=type=bind,from=base,target=/b make base\n", nil,
			"FROM golang\nRUN --mount=type=bind,from=localhost:5000/base:hone-1,target=/b make base\n", []string{"golang", "base"}},
		{"quoted", "FROM golang\nCOPY --from=\"base\" a b\n", nil, "FROM golang\nCOPY --from=localhost:5000/base:hone-1 a b\n", []string{"golang", "base"}},
		{"continued", "FROM \\\n  # a comment about base\n  base \\\n  AS x\n", nil,
			"FROM \\\n  # a comment about base\n  localhost:5000/base:hone-1 \\\n  AS x\n", []string{"base"}},
		{"heredoc", "FROM golang\nRUN <<EOF\nFROM base\nEOF\n", nil, "FROM golang\nRUN <<EOF\nFROM base\nEOF\n", []string{"golang"}},
		{"scratch", "FROM scratch\n", nil, "FROM scratch\n", nil},
		{"unreadable", "\x00", nil, "\x00", nil},
		{"comment", "# FROM base\nFROM golang # base\n", nil, "# FROM base\nFROM golang # base\n", []string{"golang"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rewriteBases(model.DockerBuild{Contents: tt.in, BuildArgs: tt.args}, deps)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.uses, BaseImages(tt.in, tt.args)); diff != "" {
				t.Errorf("uses (-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{
		"FROM base\n", "ARG A=base\nFROM ${A:-x} AS y\nCOPY --from=base a b", "FROM x\nRUN --mount=from=base,type=bind a\n",
		"# escape=`\nFROM `\nbase\n", "FROM x\nRUN <<E\nFROM base\nE\n", "\xef\xbb\xbfFROM base\r\n", "FROM --platform=$P base\nFROM 'base'",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if got := Rewrite(in, nil, func(string) (string, bool) { return "", false }); got != in {
			t.Errorf("nothing to replace, but %q became %q", in, got)
		}
		before := BaseImages(in, nil)
		const to = "localhost:5000/fresh:hone-1"
		isBase := func(ref string) bool {
			_, ok := resolve(ref, map[string]model.ImageResult{"base": {Local: to}})
			return ok
		}
		got := Rewrite(in, nil, func(ref string) (string, bool) { return to, isBase(ref) })
		if !slices.ContainsFunc(before, isBase) && got != in {
			t.Errorf("%q does not use base, but became %q", in, got)
		}
		if strings.Count(got, "\n") != strings.Count(in, "\n") {
			t.Errorf("%q got other lines: %q", in, got)
		}
	})
}

func TestFinalBase(t *testing.T) {
	t.Parallel()
	const stages = "ARG V=1\nFROM golang:$V AS Build\nRUN make\nFROM alpine AS run\nFROM build AS test\nFROM run\n"
	for _, tc := range []struct{ contents, target, want string }{
		{stages, "", "alpine"},
		{stages, "test", "golang:1"},
		{stages, "none", ""},
		{"FROM scratch\nCOPY a /a\n", "", ""},
		{"no Dockerfile", "", ""},
	} {
		if got := FinalBase(tc.contents, nil, tc.target); got != tc.want {
			t.Errorf("%q of %q: got %q, want %q", tc.target, tc.contents, got, tc.want)
		}
	}
}
