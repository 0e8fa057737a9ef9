package answers

import (
	"testing"

	"github.com/hone-dev/hone/pkg/api"
)

func TestHead(t *testing.T) {
	own, eu := api.Cluster{Name: "dev", Namespace: "shop", Connected: true, Needed: true}, api.Cluster{Name: "eu", Namespace: "web", Needed: true, Error: "refused"}
	starting, unused, new := eu, eu, eu
	starting.Starting, unused.Needed, new.Error = true, false, ""
	for want, clusters := range map[string][]api.Cluster{
		"s: 1 ok (T, in dev/shop)":                              nil,
		"s: 1 ok (T, in dev/shop and eu/web (does not answer))": {own, eu},
		"s: 1 ok (T, in dev/shop and eu/web (starting))":        {own, starting},
		"s: 1 ok (T, in dev/shop and eu/web)":                   {own, unused},
		"s: 1 ok (T, in dev/shop, eu/web and dev/shop)":         {own, new, own},
	} {
		if got := (Status{Session: "s", Tiltfile: "T", OK: 1, Cluster: "dev/shop", Clusters: clusters}).Head(); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	f := Finding{Kind: "waiting", Resource: "web", Cluster: "eu", Text: "waits for cluster eu"}
	if got := f.String(); got != "◌ web in eu: waits for cluster eu" {
		t.Error(got)
	}
}
