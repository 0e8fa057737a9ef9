package project

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/internal/base/atomicfile"
)

const (
	ext      = ".json"
	lockName = ".lock"
)

// record is the content of ID.json.
type record struct {
	ID       string   `json:"id"`
	Former   []string `json:"former,omitempty"`
	Tiltfile string   `json:"tiltfile"`
	Context  string   `json:"context"`
	Folder   folder   `json:"folder,omitzero"`
	// Declared is the declaration in the Tiltfile when it could be read last.
	Declared Declared `json:"declared,omitzero"`
}

// records reads all records, in the order of their IDs. It skips files that are not records.
func (r *Registry) records() ([]record, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, err
	}
	var out []record
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ext)
		if !ok || !e.Type().IsRegular() {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(r.dir, e.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		var rec record
		if json.Unmarshal(raw, &rec) == nil && rec.ID == id {
			out = append(out, rec)
		}
	}
	return out, nil
}

// write replaces a record in one step.
func (r *Registry) write(rec record) error {
	raw, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(r.dir, rec.ID+ext), append(raw, '\n'), 0o600)
}
