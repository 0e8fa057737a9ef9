package server

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/base/words"
)

// indexFile is the file that the address of the page leads to.
const indexFile = "index.html"

// servePage serves the files of the page. They are read for each request, so that files in a folder can change.
func servePage(mux *http.ServeMux, files fs.FS) {
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		pattern := "GET /" + name
		if name == indexFile {
			pattern = "GET /{$}"
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { pageFile(files, name, w, r) })
		return nil
	})
}

// pageFile sends one file of the page.
func pageFile(files fs.FS, name string, w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Has("ticket") { // a ticket that was redeemed before, by the same browser
		w.Header().Set("Location", "/")
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	body, err := fs.ReadFile(files, name)
	if err != nil {
		fail(w, http.StatusNotFound, "the page has no file "+name)
		return
	}
	sendFile(w, r, name, body)
}

// serveDocs serves the documentation below /docs/.
func serveDocs(mux *http.ServeMux, file func(name string) ([]byte, error)) {
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/docs/", http.StatusMovedPermanently)
	})
	mux.HandleFunc("GET /docs/{name...}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if name == "" {
			name = indexFile
		}
		body, err := file(name)
		if err != nil {
			refuse(w, r, http.StatusNotFound, "the documentation has no page "+words.Clip(name, access.MostEchoed))
			return
		}
		sendFile(w, r, name, body)
	})
}

// sendFile sends the content of a file, compressed if the browser takes that.
func sendFile(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		body = compress(body)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

func compress(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// wantsHTML reports whether a person looks at the answer to a request: a browser asks for the page, or for a page of the
// documentation.
func wantsHTML(r *http.Request) bool {
	return (r.URL.Path == "/" || isDocs(r)) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

func isDocs(r *http.Request) bool {
	return r.URL.Path == "/docs" || strings.HasPrefix(r.URL.Path, "/docs/")
}

// shut tells a browser without a cookie how to get one.
func shut(w http.ResponseWriter) {
	say(w, http.StatusUnauthorized, "This browser has no access yet",
		"<p>Run <code>hone open</code> in a terminal, or press <kbd>O</kbd> on hone's screen. Both open the session's page with a ticket that "+
			"is valid once; after that, this browser may see all pages.</p>")
}

// say answers a person with a heading and HTML below it.
func say(w http.ResponseWriter, code int, heading, below string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>hone</title>
<h1>%s</h1>
%s
</html>
`, html.EscapeString(heading), below)
}
