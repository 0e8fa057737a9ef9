package tiltfile

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCacheErrors: a cache that cannot be used is refused, at its argument.
func TestCacheErrors(t *testing.T) {
	for _, tt := range []struct{ argument, want string }{
		{"cache_to='dest=x'", `cache_to: "dest=x": it has no type: write type=registry, type=local, type=inline, type=gha`},
		{"cache_to='type=locl,dest=x'", `unknown type "locl": it can be registry, local, inline, gha`},
		{"cache_from='type=s3,bucket=x'", `cache_from: "type=s3,bucket=x": unknown type "s3": it can be registry, local, gha`},
		{"cache_from='type=inline'", "an inline cache is in an image: write the reference of that image"},
		{"cache_to='type=registry'", "it has no ref="},
		{"cache_to='type=registry,ref=:no'", "cache_to: "},
		{"cache_to='No:Upper:case'", "cache_to: "},
		{"cache_from='type=registry'", "it has no ref="},
		{"cache_to='type=local'", "it has no dest="},
		{"cache_from='type=local'", "it has no src="},
		{"cache_from='type=local,dest=x'", "cache_from has src=, not dest="},
		{"cache_to='type=local,src=x'", "cache_to has dest=, not src="},
		{"cache_to='type=local,dest=x,mode=most'", `unknown mode "most": it can be min, max`},
		{"cache_to='type=local,mode'", `"mode" has no value`},
		{`cache_to='type=local,"dest=x'`, "it is not a list of key=value"},
		{"cache_from='type=local,src=app/Dockerfile'", "Dockerfile is a file, not a folder"},
		{"cache_to='type=local,dest=.'", "the folder has the Tiltfile in it"},
		{"cache_to='type=local,dest=app'", "it is in the folder"},
		{"cache_to=[1]", "got int, want string"},
		{"cache_to='type=gha,mode=x,token=hush-hush-1'", `cache_to: unknown mode "x"`},
	} {
		t.Run(tt.argument, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "app", "Dockerfile"), []byte("FROM scratch\n"))
			writeFile(t, filepath.Join(dir, "Tiltfile"), []byte("docker_build('web', 'app',\n    "+tt.argument+")\n"))
			res := Load(t.Context(), Options{Path: filepath.Join(dir, "Tiltfile")})
			if res.Err == nil || !strings.Contains(res.Err.Error(), tt.want) {
				t.Fatalf("got %v, want %s", res.Err, tt.want)
			}
			if text := strings.ReplaceAll(res.Err.Error(), dir, ""); !strings.Contains(text, "Tiltfile:") || strings.Contains(text, "hush-hush") {
				t.Errorf("no place, or a secret: %s", text)
			}
		})
	}
}

// TestCachesOutside: no context has the folder of a cache in it, whichever image writes it.
func TestCachesOutside(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Dockerfile": "FROM scratch\n", "tmp/Dockerfile": "FROM scratch\n",
		"Tiltfile": "docker_build('api', '.', cache_to='type=local,dest=tmp/c*che')\ndocker_build('web', 'tmp')\nk8s_yaml('pod.yaml')\n",
		"pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: api\nspec:\n  containers:\n  - name: a\n    image: api\n  - name: b\n    image: web\n",
	} {
		writeFile(t, filepath.Join(dir, name), []byte(text))
	}
	res := Load(t.Context(), Options{Path: filepath.Join(dir, "Tiltfile")})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	for _, im := range res.Tiltfile.Manifests[0].Images {
		want := map[string]string{"api": `tmp/c\*che`, "web": `c\*che`}[im.Ref]
		got := im.Docker.ContextIgnores
		if len(got) != 1 || got[0].Base != im.Docker.Context || !slices.Equal(got[0].Patterns, []string{want}) {
			t.Errorf("the context of %s leaves out %+v, want %s", im.Ref, got, want)
		}
	}
}
