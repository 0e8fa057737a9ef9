package e2e

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// gate is a proxy in front of the API server that can answer requests itself.
type gate struct {
	mu sync.Mutex
	// refuses returns the answer; nil, and zero, let a request through. It is called with mu held.
	refuses func(*http.Request) refusal
	refused int
	// loses reports whether the server's answer to a request is lost; nil loses none. It is called with mu held.
	loses func(*http.Request) bool
}

// refusal is an answer of the gate itself. RetryAfter is in seconds; zero sends none.
type refusal struct{ status, retryAfter int }

// newGate opens a gate, and returns it with a kubeconfig that leads through it.
func newGate(t *testing.T) (g *gate, kubeconfig string) {
	t.Helper()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.NextProtos = []string{"http/1.1"} // streams are upgrades, which HTTP/2 does not have
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	g = &gate{}
	proxy := &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server) },
		ModifyResponse: func(r *http.Response) error {
			if g.lost(r.Request) {
				return errors.New("lost by the test")
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if no := g.refusal(r); no.status != 0 {
			if no.retryAfter > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(no.retryAfter))
			}
			http.Error(w, "refused by the test", no.status)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	err = clientcmd.WriteToFile(clientcmdapi.Config{CurrentContext: "hone-dev",
		Clusters:  map[string]*clientcmdapi.Cluster{"hone-dev": {Server: s.URL}},
		Contexts:  map[string]*clientcmdapi.Context{"hone-dev": {Cluster: "hone-dev", AuthInfo: "hone-dev"}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"hone-dev": {}}}, kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return g, kubeconfig
}

func (g *gate) refusal(r *http.Request) refusal {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refuses == nil {
		return refusal{}
	}
	no := g.refuses(r)
	if no.status != 0 {
		g.refused++
	}
	return no
}

func (g *gate) lost(r *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.loses != nil && g.loses(r)
}

// lose makes the gate lose answers to requests that the server has carried out; nil loses none.
func (g *gate) lose(what func(*http.Request) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.loses = what
}

// refuse makes the gate answer requests from now on; nil opens it.
func (g *gate) refuse(what func(*http.Request) refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refuses, g.refused = what, 0
}

// count returns how many requests were refused since the last call of refuse.
func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused
}
