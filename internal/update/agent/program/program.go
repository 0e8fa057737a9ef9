// Package program holds the synclet itself, for every supported architecture: the files that scripts/synclet builds from
// cmd/synclet.
package program

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the programs
	"fmt"
	"io"
	"strings"
	"sync"
)

//go:embed synclet-linux-amd64.gz
var amd64 []byte

//go:embed synclet-linux-arm64.gz
var arm64 []byte

//go:embed build.txt
var build string

// Build identifies the sources that the programs were built from, as protocol.Hello.Program does.
func Build() string { return strings.TrimSpace(build) }

var unpacked = map[string]func() ([]byte, error){
	"amd64": sync.OnceValues(func() ([]byte, error) { return unpack(amd64) }),
	"arm64": sync.OnceValues(func() ([]byte, error) { return unpack(arm64) }),
}

// For returns the program for an architecture, by Go's and Kubernetes' name for it. It is unpacked on the first call and
// must not be modified.
func For(arch string) ([]byte, error) {
	f, ok := unpacked[arch]
	if !ok {
		return nil, fmt.Errorf("there is no synclet for %q", arch)
	}
	return f()
}

func unpack(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
