package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
)

// alone keeps the credentials of the machine away.
func alone(t *testing.T) {
	t.Helper()
	t.Setenv(tokenVariable, "")
	t.Setenv("NETRC", filepath.Join(t.TempDir(), "none"))
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func open(t *testing.T, url string) *Storage {
	t.Helper()
	s, err := New(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	alone(t)
	for name, server := range map[string]*storagetest.Server{"etags": {}, "silent": {Silent: true}} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, server)
			storagetest.Conformance(t, func(t *testing.T) storage.Storage { return open(t, url+"/ledger/") })
		})
	}
}

// TestWireFaults loses and cuts requests and answers.
func TestWireFaults(t *testing.T) {
	alone(t)
	server := &storagetest.Server{}
	reader := open(t, serve(t, server))
	wire := serve(t, storagetest.NewWire(server, 1))
	storagetest.Revisions(t, reader, 20, open(t, wire), open(t, wire))
}

// TestUnfitServers refuses servers that cannot compare and set.
func TestUnfitServers(t *testing.T) {
	alone(t)
	without := func(header string) http.Handler {
		server := &storagetest.Server{}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del(header)
			server.ServeHTTP(w, r)
		})
	}
	answer := func(tag string) http.Handler {
		server := &storagetest.Server{Silent: true}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			server.ServeHTTP(rec, r)
			w.Header().Set("ETag", tag)
			w.WriteHeader(rec.Code)
			_, _ = w.Write(rec.Body.Bytes())
		})
	}
	for name, c := range map[string]struct {
		server http.Handler
		reason string
	}{
		"ignores If-None-Match": {without("If-None-Match"), "it ignores If-None-Match"},
		"ignores If-Match":      {without("If-Match"), "it ignores If-Match"},
		"weak":                  {answer(`W/"1"`), `the weak ETag W/"1"`},
		"none":                  {answer(""), "no ETag"},
		"empty":                 {answer(`""`), "an empty ETag"},
		"constant":              {answer(`"1"`), "it refuses to replace the version that it has just written"},
		"read only":             {http.HandlerFunc(readOnly), "it does not support PUT"},
	} {
		t.Run(name, func(t *testing.T) {
			err := storage.Check(t.Context(), open(t, serve(t, c.server)))
			p, ok := problem.Of(err)
			if !ok || !strings.Contains(p.Error(), c.reason) || p.Mend == "" {
				t.Errorf("Check: %v, want a problem with %q", err, c.reason)
			}
		})
	}
}

func readOnly(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	http.NotFound(w, r)
}

func TestURLs(t *testing.T) {
	for _, url := range []string{"https://user:secret@host/path", "https://token@host/", "http:///path", "https://host/?a=b", "https://host/#a", "ftp://host/", "http://host:a b/"} {
		_, err := New(url)
		p, ok := problem.Of(err)
		if !ok || p.Mend == "" || strings.Contains(err.Error(), "secret") {
			t.Errorf("New(%q): %v", url, err)
		}
	}
}

// TestCredentials sends the token, or else the entry of netrc, and neither to another host.
func TestCredentials(t *testing.T) {
	var got []string
	note := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		http.NotFound(w, r)
	})
	there := serve(t, note)
	other := strings.Replace(serve(t, note), "127.0.0.1", "localhost", 1)
	moved := serve(t, http.RedirectHandler(other+"/doc", http.StatusTemporaryRedirect))
	netrc := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(netrc, []byte("machine 127.0.0.1 login me password secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ url, token, netrc, want string }{
		{there, "token", netrc, "Bearer token"},
		{there, "", netrc, "Basic bWU6c2VjcmV0"},
		{there, "", filepath.Join(t.TempDir(), "none"), ""},
		{other, "", netrc, ""},
		{moved, "token", netrc, ""},
	} {
		t.Setenv(tokenVariable, c.token)
		t.Setenv("NETRC", c.netrc)
		got = nil
		if _, err := open(t, c.url).Load(t.Context(), "doc"); !errors.Is(err, storage.ErrMissing) {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%+v: the server got %q", c, got)
		}
	}
}

// TestLostWrites holds that a redirect never turns a write into a read.
func TestLostWrites(t *testing.T) {
	alone(t)
	moved := serve(t, http.RedirectHandler(serve(t, &storagetest.Server{})+"/doc", http.StatusMovedPermanently))
	if _, err := open(t, moved).save(t.Context(), "doc", nil, storage.None); err == nil || !strings.Contains(err.Error(), "loses the data") {
		t.Errorf("Save: %v", err)
	}
}

func TestRefusedAccess(t *testing.T) {
	alone(t)
	s := open(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })))
	_, err := s.Load(t.Context(), "doc")
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Mend, "netrc") || !strings.Contains(p.Mend, tokenVariable) {
		t.Errorf("Load: %v", err)
	}
}

func TestNetrc(t *testing.T) {
	const text = `machine one login a password b
macdef init
machine two login x password y

machine two
	login "c"
	account z password d default login e password f
`
	for host, want := range map[string]login{"one": {user: "a", password: "b"}, "TWO": {user: `"c"`, password: "d"}, "three": {user: "e", password: "f"}} {
		if got := parseNetrc(text, host); got != want {
			t.Errorf("%s: %+v, want %+v", host, got, want)
		}
	}
}
