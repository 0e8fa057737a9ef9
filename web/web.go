// Package web holds the session's web page: its source in TypeScript, and the bundle that is made of it, which the binary
// contains. Building the binary needs no other tool than Go.
package web

import (
	"embed"
	"io/fs"
	"os"
)

//go:embed dist
var dist embed.FS

// Dir names the environment variable for a folder whose files replace the files in the binary, for work on the page.
const Dir = "HONE_WEB_DIR"

// Files returns the files of the page, index.html among them.
func Files() fs.FS {
	if dir := os.Getenv(Dir); dir != "" {
		return os.DirFS(dir)
	}
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return files
}
