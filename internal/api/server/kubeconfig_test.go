package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestKubeconfigLife asks for kubeconfigs whose tokens have lives around the limits.
func TestKubeconfigLife(t *testing.T) {
	f := fixtureWith(Options{ReadOnly: func(_ context.Context, _ []string, lasting time.Duration) (api.Kubeconfig, error) {
		return api.Kubeconfig{Kubeconfig: lasting.String()}, nil
	}}, statetest.Session)
	for ms, want := range map[api.Milliseconds]string{
		-1: "for 10 minutes up to 720 hours", 0: "for 10 minutes up to 720 hours", api.LeastKubeconfig - 1: "for 10 minutes up to 720 hours",
		api.LeastKubeconfig: `"10m0s"`, api.LongestToken: `"720h0m0s"`, api.LongestToken + 1: "for 10 minutes up to 720 hours",
	} {
		code, body := f.do(request("POST", "/api/kubeconfig", fmt.Sprintf(`{"forMs":%.0f}`, ms)))
		if refused := code == http.StatusBadRequest; refused != strings.HasPrefix(want, "for ") || !strings.Contains(body, want) {
			t.Errorf("%.0f ms: %d %s, want %s", ms, code, body, want)
		}
	}
}

// TestKubeconfigNamespaces: a namespace of a declared cluster is none of the session's own.
func TestKubeconfigNamespaces(t *testing.T) {
	var asked []string
	actions := []store.Action{statetest.Session, statetest.Loaded(statetest.K8s("a"), statetest.K8s("b"))}
	for i, o := range []model.AppliedObject{
		{ObjectID: model.ObjectID{Kind: "ConfigMap", Name: "a", Namespace: "shop"}},
		{ObjectID: model.ObjectID{Kind: "ConfigMap", Name: "b", Namespace: "goods"}, Cluster: "dev-europe"},
	} {
		of := model.ManifestName(o.Name)
		actions = append(actions, state.BuildStarted{Resource: of, Serial: i + 1}, state.BuildCompleted{Resource: of, Serial: i + 1, Deployed: true, Applied: []model.AppliedObject{o}})
	}
	f := fixtureWith(Options{ReadOnly: func(_ context.Context, namespaces []string, _ time.Duration) (api.Kubeconfig, error) {
		asked = namespaces
		return api.Kubeconfig{}, nil
	}}, actions...)
	code, body := f.do(request("POST", "/api/kubeconfig", fmt.Sprintf(`{"forMs":%.0f}`, api.LeastKubeconfig)))
	if code != http.StatusOK || !slices.Equal(asked, []string{"shop"}) {
		t.Errorf("%d %s, for the namespaces %q", code, body, asked)
	}
}
