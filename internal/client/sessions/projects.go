package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/atomicfile"
)

// Project is the information about a Tiltfile that a session has run.
type Project struct {
	// Tiltfile is its path without symbolic links.
	Tiltfile string `json:"tiltfile"`
	// Session is the name of the session, and UsedAt is the time at which it last recorded the project.
	Session string    `json:"session"`
	UsedAt  time.Time `json:"usedAt"`
	// Context is its kubeconfig context, and Namespace the default namespace there; empty without a cluster.
	Context   string `json:"context,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Resources are the names of the resources that the Tiltfile last declared, in order.
	Resources []string `json:"resources,omitempty"`
	// Clusters are the clusters that the Tiltfile last declared, in its order.
	Clusters []Cluster `json:"clusters,omitempty"`
}

// Cluster is a cluster that a Tiltfile declares.
type Cluster struct {
	// Name is its name in the Tiltfile, and Context its context in the kubeconfig.
	Name    string `json:"name"`
	Context string `json:"context"`
	// Namespace is the default namespace there.
	Namespace string `json:"namespace,omitempty"`
}

// Projects is the information that outlives the sessions of a user: one file for each Tiltfile and name of a session.
type Projects struct{ dir string }

// NewProjects returns the projects in a folder, which need not exist yet.
func NewProjects(dir string) *Projects { return &Projects{dir} }

// Keep records the information about a project, and replaces the previous record of the same session.
func (p *Projects) Keep(is Project) error {
	is.Tiltfile = Real(is.Tiltfile)
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return fmt.Errorf("record the project: %w", err)
	}
	text, err := json.MarshalIndent(is, "", "  ")
	if err != nil {
		return fmt.Errorf("record the project: %w", err)
	}
	path := filepath.Join(p.dir, shortHash(is.Tiltfile+"\x00"+is.Session)+extInfo)
	if err := atomicfile.Write(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("record the project: %w", err)
	}
	return nil
}

// Of returns the information that the last session of a Tiltfile has recorded.
func (p *Projects) Of(tiltfile string) (Project, bool) {
	tiltfile = Real(tiltfile)
	found, ok, err := p.newest(func(is Project) bool { return is.Tiltfile == tiltfile })
	return found, ok && err == nil
}

// Named returns the project whose session had the given name; if there are several, the most recently used one.
func (p *Projects) Named(name string) (found Project, ok bool, err error) {
	found, ok, err = p.newest(func(is Project) bool { return is.Session == name })
	if err != nil {
		return found, ok, fmt.Errorf("find the project of session %s: %w", name, err)
	}
	return found, ok, nil
}

// newest returns the most recently used project that match accepts. Files that cannot be read are no projects.
func (p *Projects) newest(match func(Project) bool) (found Project, ok bool, err error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, false, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), extInfo) {
			continue
		}
		if is, readable := p.read(filepath.Join(p.dir, e.Name())); readable && match(is) && is.UsedAt.After(found.UsedAt) {
			found, ok = is, true
		}
	}
	return found, ok, nil
}

func (p *Projects) read(path string) (is Project, ok bool) {
	text, err := readPrivate(path)
	return is, err == nil && json.Unmarshal(text, &is) == nil
}

// Real returns the path of a Tiltfile, which need not exist, without symbolic links.
func Real(tiltfile string) string {
	if real, err := filepath.EvalSymlinks(tiltfile); err == nil {
		return real
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(tiltfile)); err == nil {
		return filepath.Join(dir, filepath.Base(tiltfile))
	}
	return tiltfile
}
