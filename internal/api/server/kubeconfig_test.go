package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/api"
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
