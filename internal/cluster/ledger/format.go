package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/pkg/model"
)

// format is the version of the head's format. The first version stored the environment of commands in clear text, the first two
// their arguments, and the first three no revisions.
const (
	format      = 4
	firstFormat = 1
)

// stored is the JSON form of the head.
type stored struct {
	Format  int    `json:"format"`
	Cluster string `json:"cluster"`
	Project string `json:"project"`
	// Write identifies the write.
	Write     string                                `json:"write,omitempty"`
	Revisions []Revision                            `json:"revisions,omitempty"`
	Resources map[model.ManifestName][]storedRecord `json:"resources"`
	// Commands are the delete commands of resources that a user's command deployed.
	Commands map[model.ManifestName]storedCommand `json:"commands,omitempty"`
	// Ran are digests of the commands that ran last.
	Ran map[model.ManifestName]string `json:"ran,omitempty"`
}

type storedRecord struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Group      string `json:"group,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
	Foreign    bool   `json:"foreign,omitempty"`
	Leaving    bool   `json:"leaving,omitempty"`
	Fresh      bool   `json:"fresh,omitempty"`
	Revision   int    `json:"revision,omitempty"`
}

// parse reads the head.
func (l *Ledger) parse(doc []byte) (content, error) {
	raw, locked, err := l.vault.unpack(doc, l.key.head(), l.title())
	if _, foreseen := problem.Of(err); foreseen {
		return content{}, err
	}
	var f stored
	if err == nil {
		err = json.Unmarshal(raw, &f)
	}
	if err != nil {
		return content{}, problem.Wrap(err, l.title()+" is damaged",
			"move it away; hone then no longer knows which objects earlier sessions applied, but the objects carry its labels")
	}
	if f.Format < firstFormat || f.Format > format {
		return content{}, problem.New(fmt.Sprintf("%s has format %d, but this version of hone supports only formats up to %d", l.title(), f.Format, format),
			"use the version of hone that wrote it")
	}
	out, err := l.contentOf(f)
	out.rekeyed = locked != l.vault.shared()
	out.stale = out.stale || out.rekeyed
	return out, err
}

// contentOf returns the content that a stored head has.
func (l *Ledger) contentOf(f stored) (out content, err error) {
	out = emptyContent()
	out.write, out.revisions = f.Write, f.Revisions
	for name, c := range f.Commands {
		if out.commands[name], err = l.loadCommand(name, c); err != nil {
			return content{}, err
		}
		if c.sealed() && !l.opens(name, c) {
			out.lost = append(out.lost, name)
		}
		out.stale = out.stale || c.clear()
		if len(c.Deps) > 0 {
			out.deps[name] = c.Deps
		}
	}
	maps.Copy(out.ran, f.Ran)
	for name, list := range f.Resources {
		for _, r := range list {
			id := model.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
			out.objects[name] = append(out.objects[name], Record{ObjectID: id, APIVersion: r.APIVersion, UID: r.UID, Foreign: r.Foreign, Leaving: r.Leaving,
				Fresh: r.Fresh, Revision: r.Revision})
		}
	}
	return out, nil
}

// encode returns the document of a content.
func (l *Ledger) encode(c content) ([]byte, error) {
	f, err := l.storedOf(c)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if len(raw) < compressFrom { // people may read it
		var legible bytes.Buffer
		if err := json.Indent(&legible, raw, "", "  "); err != nil {
			return nil, err
		}
		raw = legible.Bytes()
	}
	from := compressFrom
	if _, local := l.storage.(storage.Local); local {
		from = compressHere
	}
	return l.pack(append(raw, '\n'), l.key.head(), from)
}

// storedOf returns the stored form of a content.
func (l *Ledger) storedOf(c content) (stored, error) {
	f := stored{Format: format, Cluster: l.key.Cluster, Project: l.key.Project, Write: c.write, Revisions: c.revisions,
		Resources: make(map[model.ManifestName][]storedRecord, len(c.objects)),
		Commands:  make(map[model.ManifestName]storedCommand, len(c.commands)), Ran: c.ran}
	for name, cmd := range c.commands {
		sealed, err := l.storeCommand(name, cmd)
		if err != nil {
			return stored{}, err
		}
		sealed.Deps = c.deps[name]
		f.Commands[name] = sealed
	}
	for name, list := range c.objects {
		for _, r := range list {
			f.Resources[name] = append(f.Resources[name], storedRecord{APIVersion: r.APIVersion, Group: r.Group, Kind: r.Kind,
				Namespace: r.Namespace, Name: r.Name, UID: r.UID, Foreign: r.Foreign, Leaving: r.Leaving, Fresh: r.Fresh, Revision: r.Revision})
		}
	}
	return f, nil
}

// pack returns a document, compressed from a size on, and encrypted if the user has given a key.
func (l *Ledger) pack(raw []byte, name string, from int) ([]byte, error) {
	var key []byte
	if l.vault.shared() {
		key = l.vault.keys[0]
	}
	return pack(raw, key, name, from)
}
