package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/file"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
)

// Contents reads a file for a builtin. If there is a default, a missing file is not an error, and found is false.
func (e *Evaluation) Contents(path string, fallback starlark.Value) (content string, found bool, err error) {
	data, err := e.ReadFile(e.Abs(path))
	switch {
	case err == nil:
		e.Learn(string(data))
		return string(data), true, nil
	case errors.Is(err, fs.ErrNotExist) && fallback != nil:
		return "", false, nil
	}
	return "", false, e.Unreadable(path, err)
}

// Unreadable explains why a file could not be read, with the path as the Tiltfile wrote it.
func (e *Evaluation) Unreadable(path string, err error) error {
	switch full := e.Abs(path); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s%s", full, e.Sibling(full))
	case file.IsDir(full):
		return fmt.Errorf("%s is a folder, not a file", full)
	}
	return err
}

// Sibling suggests the file in the same folder that was probably meant; "" if there is none.
func (e *Evaluation) Sibling(full string) string {
	entries, err := os.ReadDir(filepath.Dir(full))
	if err != nil {
		return ""
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return hint.DidYouMean(filepath.Base(full), names)
}
