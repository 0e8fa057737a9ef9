package sessions

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzInfo reads arbitrary text as a session's file. It is a session only if it states its own name, and none of these
// sessions is alive.
func FuzzInfo(f *testing.F) {
	f.Add([]byte(`{"name":"shop","pid":1,"startedAt":"2026-01-02T03:04:05Z","command":"up","tiltfile":"/src/Tiltfile","port":10350}`))
	f.Add([]byte(`{"name":"shop","pid":-1,"port":1e99}`))
	f.Add([]byte(`{"Name":"../shop"}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := New(t.TempDir())
		if err := os.Chmod(r.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(r.dir, "shop"+extInfo)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		info, ok := r.read("shop")
		if ok && info.Name != "shop" {
			t.Errorf("%q is session %q", text, info.Name)
		}
		living, err := r.List(t.Context())
		if err != nil || len(living) > 0 {
			t.Errorf("%v, %v", living, err)
		}
		if _, err := os.Lstat(path); ok != os.IsNotExist(err) {
			t.Errorf("%q: a session %t, and its file: %v", text, ok, err)
		}
	})
}
