//go:build hone_profile && unix

package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof" // the profiles that are served
	"os"
	"path/filepath"
)

// profileVariable names a folder. A hone that was built for measuring opens a socket in it that serves its profiles.
const profileVariable = "HONE_PROFILE"

func init() {
	dir := os.Getenv(profileVariable)
	if dir == "" {
		return
	}
	l, err := net.Listen("unix", filepath.Join(dir, fmt.Sprintf("%d.sock", os.Getpid())))
	if err != nil {
		fmt.Fprintln(os.Stderr, "serve profiles:", err)
		return
	}
	go func() { _ = http.Serve(l, nil) }()
}
