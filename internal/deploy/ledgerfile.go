package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// ledgerFormat is the version of the file's shape.
const ledgerFormat = 1

// ledgerFile is the shape of the file.
type ledgerFile struct {
	Format    int                                   `json:"format"`
	Cluster   string                                `json:"cluster"`
	Project   string                                `json:"project"`
	Resources map[model.ManifestName][]recordOnDisk `json:"resources"`
}

type recordOnDisk struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Group      string `json:"group,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

// parse reads the file's content.
func (l *Ledger) parse(raw []byte) (records, error) {
	var f ledgerFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, problem.Wrap(err, "the ledger "+l.path+" is damaged",
			"move it away; hone then no longer knows what earlier sessions applied, but the objects carry its labels")
	}
	if f.Format != ledgerFormat {
		return nil, problem.New(fmt.Sprintf("the ledger %s has format %d, this hone knows %d", l.path, f.Format, ledgerFormat),
			"use the version of hone that wrote it")
	}
	out := make(records, len(f.Resources))
	for name, list := range f.Resources {
		for _, r := range list {
			id := model.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
			out[name] = append(out[name], ObjectRecord{ObjectID: id, APIVersion: r.APIVersion, UID: r.UID})
		}
	}
	return out, nil
}

// write replaces the file in one step: a crash leaves the old content or the new.
func (l *Ledger) write(m records) error {
	f := ledgerFile{Format: ledgerFormat, Cluster: l.key.Cluster, Project: l.key.Project,
		Resources: make(map[model.ManifestName][]recordOnDisk, len(m))}
	for name, list := range m {
		for _, r := range list {
			f.Resources[name] = append(f.Resources[name], recordOnDisk{APIVersion: r.APIVersion, Group: r.Group, Kind: r.Kind,
				Namespace: r.Namespace, Name: r.Name, UID: r.UID})
		}
	}
	raw, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(l.path, append(raw, '\n'))
}

// replaceFile writes a file beside path and renames it, with the content on disk before the name.
func replaceFile(path string, content []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Sync()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
