package copykeeper

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/pkg/model"
)

// kept is the time for which a container is remembered that no session has seen.
const kept = 30 * 24 * time.Hour

// record is the content of the file.
type record struct {
	Containers map[string]container `json:"containers"`
}

// container is the record of a container, by its id. It holds no content.
type container struct {
	// Resource is the resource that the container belongs to; empty in a record of an earlier version.
	Resource model.ManifestName `json:"resource,omitempty"`
	// At is the time when the container was last up to date, and Files are the files that were copied into it, absolute paths on
	// this machine, sorted.
	At    time.Time `json:"at"`
	Files []string  `json:"files"`
}

// has returns the times up to which the containers of a resource have had the changes.
func (r record) has(resource model.ManifestName) map[string]time.Time {
	has := map[string]time.Time{}
	for id, c := range r.Containers {
		if c.Resource == resource && len(c.Files) > 0 {
			has[id] = c.At
		}
	}
	return has
}

// load reads the record. One that cannot be read is empty: then nothing is known about containers of earlier sessions.
func load(path string) record {
	var r record
	if content, err := os.ReadFile(path); err != nil || json.Unmarshal(content, &r) != nil || r.Containers == nil {
		return record{Containers: map[string]container{}}
	}
	return r
}

// write replaces the file, without containers that are too old.
func (r record) write(path string, now time.Time) error {
	for id, c := range r.Containers {
		if now.Sub(c.At) > kept {
			delete(r.Containers, id)
		}
	}
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, content, 0o600)
}
