package k8s_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// newProxy returns the URL of a proxy in front of a client's cluster, with the client's credentials. refuse returns
// true if it has answered a request instead of the cluster.
func newProxy(t *testing.T, c *k8s.Client, refuse func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	cfg := c.RESTConfig()
	cfg.NextProtos = []string{"http/1.1"} // upgrades pass through
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !refuse(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		utilnet.CloseIdleConnectionsFor(transport)
	})
	return srv.URL
}

// refusing answers like a proxy that does not pass on upgrades to a protocol.
func refusing(protocol string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.EqualFold(r.Header.Get("Upgrade"), protocol) {
			return false
		}
		http.Error(w, "unable to upgrade", http.StatusBadRequest)
		return true
	}
}
