package identity

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRead(t *testing.T) {
	for name, tc := range map[string]struct {
		source string
		want   Identity
		ok     bool
	}{
		"nothing":              {"x = 1\n", Identity{}, true},
		"both":                 {"project('shop')\nledger_settings(url='kube://tools')\n", Identity{"shop", "kube://tools"}, true},
		"by name, by position": {"load('ext://x', 'y')\nproject(name=\"shop\")\nledger_settings('s3://b/p?region=eu')", Identity{"shop", "s3://b/p?region=eu"}, true},
		"not at the top level": {"if True:\n  project('shop')\ndef f():\n  ledger_settings('kube://')\n", Identity{}, true},
		"computed":             {"project('sh' + 'op')\nledger_settings(url=os.getenv('X'))", Identity{}, true},
		"another argument":     {"project(x='shop')", Identity{}, true},
		"broken":               {"project('shop')\n)", Identity{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "Tiltfile")
			if err := os.WriteFile(path, []byte(tc.source), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, ok, err := Read(path); got != tc.want || ok != tc.ok || err != nil {
				t.Errorf("got %+v, %v, %v", got, ok, err)
			}
		})
	}
	if _, ok, err := Read(filepath.Join(t.TempDir(), "none")); ok || err != nil {
		t.Errorf("no Tiltfile: %v, %v", ok, err)
	}
}

func TestCheckName(t *testing.T) {
	for name, want := range map[string]bool{"shop": true, "shop-2": true, "a": true, "": false, "Shop": false, "-a": false, "a-": false, "a.b": false,
		"0123456789ab": false, "0123456789abc": true, "this-name-has-more-than-forty-characters1": false} {
		if got := CheckName(name) == nil; got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
