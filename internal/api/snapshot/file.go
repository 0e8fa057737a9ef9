package snapshot

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/hone-dev/hone/internal/base/outputfile"
	"github.com/hone-dev/hone/internal/base/problem"
)

// Open returns the file that a snapshot will be written to, after checking that it can be written. Only its owner may read it,
// because logs are private.
func Open(path string) (*outputfile.File, error) {
	f, err := outputfile.Open(path, 0o600)
	var at *fs.PathError
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, outputfile.ErrFolder) && errors.As(err, &at):
		return nil, problem.New(at.Path+" is a folder", "name a file in it: "+filepath.Join(at.Path, "snapshot.json"))
	}
	return nil, problem.Wrap(err, "the snapshot could not be written", "name a file in a folder that you may write to")
}
