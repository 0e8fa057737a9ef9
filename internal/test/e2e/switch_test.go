package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/api"
)

// patch changes an object of the session by a merge patch.
func (s *session) patch(plural, name, patch string) {
	s.p.t.Helper()
	url := fmt.Sprintf("http://localhost:%d/apis/tilt.dev/v1alpha1/%s/%s", s.port, plural, name)
	req, err := http.NewRequestWithContext(s.p.t.Context(), http.MethodPatch, url, strings.NewReader(patch))
	if err != nil {
		s.p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	req.Header.Set("Authorization", "Bearer "+s.token())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		s.p.t.Fatalf("patch %s/%s: %s %s", plural, name, resp.Status, body)
	}
}

// TestDisableAndEnable switches a resource off, as scripts do: its objects are deleted, and its port closes. It stays
// off when the Tiltfile is evaluated again, and comes back when it is switched on.
func TestDisableAndEnable(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	first := p.object("apps", "v1", "deployments", "web").GetUID()
	s.patch("configmaps", "web-disable", `{"data":{"isDisabled":"true"}}`)
	p.gone("apps", "v1", "deployments", "web")
	p.gone("", "v1", "services", "web")
	disabled := func(r api.Resource) bool { return r.Disabled && len(r.Pods) == 0 && len(r.PortForwards) == 0 }
	s.becomes("web", "disabled", disabled)
	p.replace("Tiltfile", "k8s_yaml(", "local_resource('more', 'true')\nk8s_yaml(")
	s.ready("more")
	s.becomes("web", "still disabled", disabled)
	s.patch("configmaps", "web-disable", `{"data":{"isDisabled":"false"}}`)
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	if p.object("apps", "v1", "deployments", "web").GetUID() == first {
		t.Error("it is the same Deployment")
	}
}
