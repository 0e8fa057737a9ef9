package docker

import (
	"maps"
	"strings"
	"testing"

	control "github.com/moby/buildkit/api/services/control"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// TestActionsCache: on a runner of GitHub Actions, a cache gets the address and the token of the runner; elsewhere, there is none.
func TestActionsCache(t *testing.T) {
	given := map[string]string{"ACTIONS_CACHE_URL": "https://one.test/", "ACTIONS_RESULTS_URL": "https://two.test/", "ACTIONS_RUNTIME_TOKEN": "hush-hush"}
	with := func(more ...string) map[string]string {
		out := maps.Clone(given)
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	for name, tt := range map[string]struct{ env, attrs, want map[string]string }{
		"elsewhere":  {map[string]string{}, map[string]string{"scope": "a"}, nil},
		"no address": {map[string]string{"ACTIONS_RUNTIME_TOKEN": "hush-hush"}, map[string]string{}, nil},
		"no token":   {map[string]string{"ACTIONS_CACHE_URL": "https://one.test/"}, map[string]string{}, nil},
		"first":      {given, map[string]string{"scope": "a"}, map[string]string{"scope": "a", "token": "hush-hush", "url": "https://one.test/"}},
		"second": {with("ACTIONS_CACHE_SERVICE_V2", "True"), map[string]string{},
			map[string]string{"token": "hush-hush", "url": "https://one.test/", "url_v2": "https://two.test/"}},
		"second, asked for": {given, map[string]string{"version": "2"},
			map[string]string{"version": "2", "token": "hush-hush", "url": "https://one.test/", "url_v2": "https://two.test/"}},
		"first, asked for": {with("ACTIONS_CACHE_SERVICE_V2", "1"), map[string]string{"version": "1"},
			map[string]string{"version": "1", "token": "hush-hush", "url": "https://one.test/"}},
		"results only": {map[string]string{"ACTIONS_RESULTS_URL": "https://two.test/", "ACTIONS_RUNTIME_TOKEN": "hush-hush"}, map[string]string{},
			map[string]string{"token": "hush-hush", "url": "https://two.test/"}},
		"own": {given, map[string]string{"url": "https://own.test/", "token": "own"}, map[string]string{"url": "https://own.test/", "token": "own"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"ACTIONS_CACHE_URL", "ACTIONS_RESULTS_URL", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_CACHE_SERVICE_V2"} {
				t.Setenv(variable, tt.env[variable])
			}
			var said strings.Builder
			log := logstore.Func(func(_ logstore.Level, text string) { said.WriteString(text) })
			one := []model.BuildCache{{Type: model.CacheGHA, Attrs: tt.attrs}}
			declared := maps.Clone(tt.attrs)
			got, err := openCaches(t.Context(), BuildRequest{CacheFrom: one, CacheTo: one, Log: log})
			if err != nil {
				t.Fatal(err)
			}
			ask, err := Solve{Imports: got.imports, Exports: got.exports}.request(&control.Exporter{Type: "image"})
			if err != nil {
				t.Fatal(err)
			}
			for _, entries := range [][]*control.CacheOptionsEntry{ask.GetCache().GetImports(), ask.GetCache().GetExports()} {
				switch {
				case tt.want == nil && len(entries) == 0:
				case len(entries) != 1 || !maps.Equal(entries[0].GetAttrs(), tt.want) || entries[0].GetType() != "gha":
					t.Errorf("the daemon gets %v, want %v", entries, tt.want)
				}
			}
			if strings.Contains(said.String(), "hush") {
				t.Errorf("the log has the token: %s", said.String())
			}
			if !maps.Equal(declared, tt.attrs) {
				t.Errorf("the declaration has changed: %v", tt.attrs)
			}
		})
	}
}
