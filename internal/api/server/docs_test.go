package server

import (
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/web"
	"github.com/hone-dev/hone/web/docs"
)

// documented returns the handler of a session that serves the real page and the real documentation.
func documented() http.Handler {
	st := store.New(state.Schema)
	sub := New(Options{Version: "1.2.3", Page: web.Files(), Docs: docs.HTML})
	return access.Guard(access.Rules{Token: token, Refuse: refuse}, sub.handler(store.NewRuntime(st, sub)))
}

func ask(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestDocsFiles checks that every file of the documentation is served with its type: browsers are told not to guess.
func TestDocsFiles(t *testing.T) {
	types := map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png"}
	h := documented()
	for _, name := range docs.HTMLNames() {
		w := ask(h, request(http.MethodGet, "/docs/"+name, ""))
		if got, want := w.Header().Get("Content-Type"), types[path.Ext(name)]; w.Code != http.StatusOK || got != want || want == "" {
			t.Errorf("%s: %d %s, want %s", name, w.Code, got, want)
		}
	}
	if w := ask(h, request(http.MethodGet, "/docs", "")); w.Code != http.StatusMovedPermanently || w.Header().Get("Location") != "/docs/" {
		t.Errorf("/docs: %d to %s", w.Code, w.Header().Get("Location"))
	}
	if w := ask(h, request(http.MethodGet, "/docs/", "")); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<main") {
		t.Errorf("/docs/: %d", w.Code)
	}
	if w := ask(h, request(http.MethodGet, "/favicon.svg", "")); w.Code != http.StatusOK || w.Header().Get("Content-Type") != types[".svg"] {
		t.Errorf("/favicon.svg: %d %s", w.Code, w.Header().Get("Content-Type"))
	}
}

// TestDocsRefused checks that a person gets an answer to read, and a program one to parse. The documentation needs access as the session's
// page does: it is served at the same address.
func TestDocsRefused(t *testing.T) {
	const page, object = "text/html; charset=utf-8", "application/json"
	h := documented()
	for _, tc := range []struct {
		name, path, accept string
		known              bool
		code               int
		kind, says         string
	}{
		{"a browser without access", "/docs/install.html", "text/html,*/*", false, 401, page, "This browser has no access yet"},
		{"at the index", "/docs/", "text/html,*/*", false, 401, page, "hone open"},
		{"at the address without a slash", "/docs", "text/html,*/*", false, 401, page, "hone open"},
		{"a program without access", "/docs/install.html", "*/*", false, 401, object, "Unauthorized"},
		{"the style of a page without access", "/docs/docs.css", "text/css,*/*", false, 401, object, "Unauthorized"},
		{"another path without access", "/docsx", "text/html,*/*", false, 401, object, "Unauthorized"},
		{"a page that is not there", "/docs/<b>.html", "text/html,*/*", true, 404, page, "no page &lt;b&gt;.html"},
		{"for a program", "/docs/nothing.html", "*/*", true, 404, object, "no page nothing.html"},
		{"a file that is no part of it", "/docs/docs.go", "*/*", true, 404, object, "no page docs.go"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := request(http.MethodGet, tc.path, "")
			r.Header.Set("Accept", tc.accept)
			if !tc.known {
				r.Header.Del("Authorization")
			}
			w := ask(h, r)
			if got := w.Header().Get("Content-Type"); w.Code != tc.code || got != tc.kind || !strings.Contains(w.Body.String(), tc.says) {
				t.Errorf("%d %s\n%s", w.Code, got, w.Body.String())
			}
		})
	}
}
