package extension

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResolve(t *testing.T) {
	own := Repo{Name: "default", URL: "https://git.test/own"}
	shop := Repo{Name: "shop", URL: "https://git.test/shop", LoadHost: "shop"}
	deep := Repo{Name: "deep", URL: "https://git.test/deep", LoadHost: "shop/deep"}
	for _, tc := range []struct {
		name       string
		repos      []Repo
		extensions []Extension
		ask        string
		want       Location
	}{
		{"embedded", nil, nil, "namespace", Location{Name: "namespace", Embedded: "namespace"}},
		{"public", nil, nil, "tests/golang", Location{Name: "tests/golang", Repo: Public, Path: "tests/golang"}},
		{"a part of an embedded name", nil, nil, "namespace/Tiltfile", Location{Name: "namespace/Tiltfile", Repo: Public, Path: "namespace/Tiltfile"}},
		{"own default", []Repo{own}, nil, "namespace", Location{Name: "namespace", Repo: own, Path: "namespace"}},
		{"load host", []Repo{own, shop}, nil, "shop/db", Location{Name: "shop/db", Repo: shop, Path: "db"}},
		{"longest load host", []Repo{shop, deep}, nil, "shop/deep/db", Location{Name: "shop/deep/db", Repo: deep, Path: "db"}},
		{"the load host alone", []Repo{shop}, nil, "shop", Location{Name: "shop", Repo: Public, Path: "shop"}},
		{"half of a load host", []Repo{shop}, nil, "shopping/x", Location{Name: "shopping/x", Repo: Public, Path: "shopping/x"}},
		{"declared", []Repo{shop}, []Extension{{Name: "db", RepoName: "shop", RepoPath: "a/b"}}, "db", Location{Name: "db", Repo: shop, Path: "a/b"}},
		{"declared, before load hosts", []Repo{own, shop}, []Extension{{Name: "shop/db"}}, "shop/db", Location{Name: "shop/db", Repo: own, Path: "shop/db"}},
		{"declared, embedded", nil, []Extension{{Name: "ns", RepoPath: "namespace"}}, "ns", Location{Name: "ns", Embedded: "namespace"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var g Registry
			for _, r := range tc.repos {
				if err := g.AddRepo(r); err != nil {
					t.Fatal(err)
				}
			}
			for _, e := range tc.extensions {
				if err := g.AddExtension(e); err != nil {
					t.Fatal(err)
				}
			}
			got, err := g.Resolve(tc.ask)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepoAddresses(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://github.com/a/b": true, "http://localhost:3000/a": true, "ssh://git@host/a": true, "git@github.com:a/b.git": true,
		"file:///a": true, "https://me:pw@host/a": true,
		"": false, "github.com/a/b": false, "file://a": false, "-upload-pack=x": false, "ext::sh -c x": false, "https://": false,
		"ftp://host/a": false, "/a/b": false, "git@host::x": false,
	} {
		err := new(Registry).AddRepo(Repo{Name: "x", URL: url})
		if (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
	}
	for name, r := range map[string]Repo{
		"ref": {Name: "x", URL: PublicURL, Ref: "--upload-pack=x"}, "ref with a colon": {Name: "x", URL: PublicURL, Ref: "a:b"},
		"no name": {URL: PublicURL}, "git_subpath": {Name: "x", URL: PublicURL, GitSubpath: "../x"},
		"load_host": {Name: "x", URL: PublicURL, LoadHost: "a/"},
	} {
		if err := new(Registry).AddRepo(r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzResolve checks that no name leads out of a repository.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"a", "../a", "a/../../b", "/a", "a//b", `a\b`, "a/.", "shop/../x", "", "C:a", "a\x00b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		var g Registry
		if err := g.AddRepo(Repo{Name: "shop", URL: PublicURL, LoadHost: "shop"}); err != nil {
			t.Fatal(err)
		}
		at, err := g.Resolve(name)
		if err != nil {
			return
		}
		for part := range strings.SplitSeq(at.Path, "/") {
			if at.Embedded == "" && (part == "" || part == "." || part == "..") {
				t.Errorf("%q resolves to %q", name, at.Path)
			}
		}
	})
}
