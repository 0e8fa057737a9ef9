// Package program holds the synclet itself, for every supported architecture. "go generate" builds the programs from cmd/synclet;
// "make build", the tests and a release do so first. A hone that was compiled without them has nothing to put into containers, and
// says so where it would.
package program

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
)

//go:generate go run ./build

// built has the programs, compressed, and the name of their build. Go embeds no empty folder, so that there is always one more file.
//
//go:embed all:built
var built embed.FS

// ErrMissing means that hone was compiled without the programs.
var ErrMissing = errors.New("this hone was compiled without the programs that it puts into containers; make build compiles them, too")

// Build identifies the sources that the programs were built from, as protocol.Hello.Program does. It is empty without programs.
func Build() string {
	name, err := built.ReadFile("built/build.txt")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}

var unpacked = map[string]func() ([]byte, error){
	"amd64": sync.OnceValues(func() ([]byte, error) { return unpack("amd64") }),
	"arm64": sync.OnceValues(func() ([]byte, error) { return unpack("arm64") }),
}

// For returns the program for an architecture, by Go's and Kubernetes' name for it. It is unpacked on the first call and must not be
// modified. The error is ErrMissing if hone was compiled without programs.
func For(arch string) ([]byte, error) {
	f, ok := unpacked[arch]
	if !ok {
		return nil, fmt.Errorf("there is no synclet for %q", arch)
	}
	return f()
}

func unpack(arch string) ([]byte, error) {
	packed, err := built.ReadFile("built/synclet-linux-" + arch + ".gz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
