package tiltfile

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProfile(t *testing.T) {
	dir := t.TempDir()
	main, lib := filepath.Join(dir, "Tiltfile"), filepath.Join(dir, "lib.tilt")
	writeFile(t, lib, []byte("def f():\n  return blob('x')\nf()\n"))
	writeFile(t, main, []byte("load('./lib.tilt', 'f')\nfor i in range(3):\n  os.getenv('HOME', '')\n  f()\ninclude('./sub.tilt')\nlocal_resource('a', 'true')\n"))
	writeFile(t, filepath.Join(dir, "sub.tilt"), []byte("blob('y')\n"))
	res := Load(t.Context(), Options{Path: main, Profile: true})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	type line struct {
		name, file string
		line       int
	}
	got := map[line]int{}
	for _, b := range res.Profile.Builtins {
		n := 0
		for _, s := range b.Sites {
			got[line{b.Name, filepath.Base(s.File), s.Line}] = s.Calls
			n += s.Calls
			if s.Own > s.Total || s.Slowest > s.Own {
				t.Errorf("%s: impossible times %+v", b.Name, s)
			}
		}
		if n != b.Calls {
			t.Errorf("%s: %d calls, its sites have %d", b.Name, b.Calls, n)
		}
	}
	want := map[line]int{
		{"load", "Tiltfile", 1}: 1, {"os.getenv", "Tiltfile", 3}: 3, {"blob", "lib.tilt", 2}: 4, {"include", "Tiltfile", 5}: 1,
		{"blob", "sub.tilt", 1}: 1, {"local_resource", "Tiltfile", 6}: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	p := res.Profile
	if p.Total <= 0 || p.Compile <= 0 || p.Assembly <= 0 || p.Program() <= 0 || p.Program() > p.Total {
		t.Errorf("impossible times: %+v", p)
	}
	if plain := Load(t.Context(), Options{Path: main}); plain.Profile != nil {
		t.Error("a profile that was not requested")
	}
}
