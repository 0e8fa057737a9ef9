package k8s

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// known returns a client that knows a cluster, and talks to none.
func known(c model.Cluster) *Client {
	l := &login{}
	l.now.Store(&entry{cluster: c})
	return &Client{login: l}
}

// apiServer is an API server that lets in one token, below a path. Its cluster has a UID.
type apiServer struct {
	*httptest.Server
	path  string
	token atomic.Pointer[string]
}

func newAPIServer(t *testing.T, token, path, uid string) *apiServer {
	t.Helper()
	s := &apiServer{path: path}
	s.token.Store(&token)
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body := map[string]string{
			s.path + "/readyz":                            `"ok"`,
			s.path + "/version":                           `{"gitVersion": "v1.34.0"}`,
			s.path + "/api/v1/namespaces/kube-system":     `{"kind": "Namespace", "apiVersion": "v1", "metadata": {"uid": "` + uid + `"}}`,
			s.path + "/apis/apps/v1/namespaces/ns/things": `{"kind": "Status", "apiVersion": "v1", "status": "Success"}`,
		}[r.URL.Path]
		if sent, _ := io.ReadAll(r.Body); r.Method == http.MethodPost && string(sent) != "a body" {
			t.Errorf("the body is %q", sent)
		}
		switch {
		case r.Header.Get("Authorization") != "Bearer "+*s.token.Load():
			refuseAs(w, http.StatusUnauthorized, "Unauthorized")
		case body == "":
			refuseAs(w, http.StatusForbidden, "Forbidden")
		default:
			fmt.Fprint(w, body)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func refuseAs(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q}`, code, reason)
}

// config returns a kubeconfig whose context "dev" leads to the server; trusted says whether it names the server's authority.
func (s *apiServer) config(token string, trusted bool) string {
	trust := "insecure-skip-tls-verify: true"
	if trusted {
		authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
		trust = fmt.Sprintf("certificate-authority-data: %s", base64.StdEncoding.EncodeToString(authority))
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: other
contexts: [{name: dev, context: {cluster: c, user: u}}, {name: other, context: {cluster: none, user: u}}]
clusters: [{name: c, cluster: {server: "%s%s", %s}}, {name: none, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: %s}}]
`, s.URL, s.path, trust, token)
}

// TestLogin changes the kubeconfig under a client. The client follows it where a request fails, except into another cluster.
func TestLogin(t *testing.T) {
	const uid = "11111111-2222-3333-4444-555555555555"
	for _, tc := range []struct {
		name string
		// The state of the server after the change. written is the token in the kubeconfig after the change.
		token, path, uid string
		written          string
		trusted          bool
		want             string // an error
		keeps            bool   // the client's address
	}{
		{name: "another token", token: "two", uid: uid, written: "two", trusted: true},
		{name: "a wrong token", token: "two", uid: uid, written: "three", trusted: true, want: "does not accept your credentials"},
		{name: "another path", token: "one", path: "/k8s/c-1", uid: uid, written: "one", trusted: true},
		{name: "without an authority", token: "one", uid: uid, written: "one"},
		{name: "another cluster", token: "one", uid: "another", written: "one",
			want: "leads to another cluster now", keeps: true},
		{name: "a cluster that does not reveal itself", token: "one", written: "one", want: "leads to another cluster now", keeps: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newAPIServer(t, "one", "", uid)
			file := filepath.Join(t.TempDir(), "config")
			write := func(text string) {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(s.config("one", tc.trusted))
			kc, err := Load(Config{Context: "dev", Kubeconfig: file})
			if err != nil {
				t.Fatal(err)
			}
			c, err := kc.Connect()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Detect(t.Context()); err != nil {
				t.Fatal(err)
			}
			void := "void"
			s.token.Store(&void)
			if err := c.Healthy(t.Context()); err == nil || !strings.Contains(problem.Text(err), "does not accept your credentials") {
				t.Fatalf("with a void token: %v", err)
			}
			s.Close()
			if err := c.Healthy(t.Context()); !IsUnreachable(err) {
				t.Fatalf("a server that is gone: %v", err)
			}

			again := newAPIServer(t, tc.token, tc.path, tc.uid)
			write(again.config(tc.written, tc.trusted)[:100]) // half of it
			if err := c.Healthy(t.Context()); !IsUnreachable(err) {
				t.Fatalf("half a kubeconfig: %v", err)
			}
			write(again.config(tc.written, tc.trusted))
			c.login.tried = c.login.tried.Add(-rereadPause)
			err = c.Healthy(t.Context())
			if tc.want != "" {
				if err == nil || !strings.Contains(problem.Text(err), tc.want) {
					t.Errorf("got %v, want %s", err, tc.want)
				}
				if moved := c.Cluster().Server != s.URL+s.path; moved == tc.keeps {
					t.Errorf("the address is %s", c.Cluster().Server)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Cluster().Server; got != again.URL+again.path {
				t.Errorf("the address is %s, want %s", got, again.URL+again.path)
			}
		})
	}
}

// TestLoginSendsAgain: a request with a body is sent again with all of it, by each of the client's transports, and nothing is read
// again while the kubeconfig stays as it is.
func TestLoginSendsAgain(t *testing.T) {
	s := newAPIServer(t, "one", "", "")
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(s.config("one", true)), 0o600); err != nil {
		t.Fatal(err)
	}
	kc, err := Load(Config{Context: "dev", Kubeconfig: file})
	if err != nil {
		t.Fatal(err)
	}
	c, err := kc.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	reads, reread := 0, c.login.reread
	c.login.reread = func() (*entry, error) { reads++; return reread() }
	apart, err := c.Apart(func(*rest.Config) {})
	if err != nil {
		t.Fatal(err)
	}
	post := func(client *http.Client) int {
		t.Helper()
		resp, err := client.Post(s.URL+"/apis/apps/v1/namespaces/ns/things", "text/plain", strings.NewReader("a body"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	two := "two"
	s.token.Store(&two)
	for range 3 {
		if code := post(c.http); code != http.StatusUnauthorized {
			t.Errorf("before the login: %d", code)
		}
	}
	if reads != 1 {
		t.Errorf("the kubeconfig was read %d times, want once", reads)
	}
	if err := os.WriteFile(file, []byte(s.config("two", true)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.login.tried = c.login.tried.Add(-rereadPause)
	for name, client := range map[string]*http.Client{"requests": c.http, "upgrades": c.upgrades, "apart": apart} {
		if code := post(client); code != http.StatusOK {
			t.Errorf("%s after the login: %d", name, code)
		}
	}
	if reads != 2 {
		t.Errorf("the kubeconfig was read %d times, want twice", reads)
	}
}
