package synclet

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// Archive returns the program for an architecture as a tar archive that, unpacked at the root of a container, puts it at
// protocol.Path. Each call of the returned function returns a reader from the start.
func Archive(arch string) (func() io.Reader, error) {
	file, err := program.For(arch)
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(protocol.Path, "/")
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path.Dir(name) + "/", Mode: 0o755})
	if err == nil {
		err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(file))})
	}
	if err == nil {
		_, err = w.Write(file)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack the synclet: %w", err)
	}
	return func() io.Reader { return bytes.NewReader(b.Bytes()) }, nil
}
