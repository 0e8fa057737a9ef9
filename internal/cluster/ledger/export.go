package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/pkg/model"
)

// An export is one file with everything that a ledger keeps. It is JSON, in the envelope of documents if it is large or encrypted.
const (
	exportKind    = "hone.dev/ledger-export"
	exportVersion = 1
	exportPlace   = "export" // an encrypted export is bound to it
	exportTitle   = "the exported ledger"
)

// LargestExport is the largest size of an export, in bytes.
const LargestExport = largestContent

// exported is the JSON form of an export. Parts of commands are encrypted as they are in the head.
type exported struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	Ledger  stored `json:"ledger"`
	// Declared are the objects of the revisions before the newest one.
	Declared map[int]json.RawMessage `json:"declared,omitempty"`
	Notes    []archivedNote          `json:"notes,omitempty"`
}

// Export returns everything that the ledger keeps. With a key of the user, the result is encrypted, and every machine that has the key can
// import it. Without one, only this machine can read the values in recorded commands.
func (l *Ledger) Export(ctx context.Context) ([]byte, error) {
	a, err := l.archive(ctx)
	if err != nil {
		return nil, err
	}
	if a.version == storage.None {
		return nil, problem.New("there is no ledger in "+l.Place(), "hone has applied nothing for this project: see hone state show").See("state")
	}
	head, err := l.storedOf(a.content)
	if err != nil {
		return nil, err
	}
	head.Write = ""
	raw, err := json.MarshalIndent(exported{exportKind, exportVersion, head, a.declared, a.notes}, "", "  ")
	if err != nil {
		return nil, err
	}
	return l.pack(append(raw, '\n'), exportPlace, compressFrom)
}

// Import makes an export the content of this ledger, which must not exist. It checks all of the export before it writes anything, and can
// be called again if it was interrupted. withoutSecrets allows that values are lost which this machine cannot read.
func (l *Ledger) Import(ctx context.Context, doc []byte, withoutSecrets bool) error {
	f, err := l.openExport(doc)
	if err != nil {
		return err
	}
	const elsewhere = "import it where it belongs"
	switch {
	case f.Ledger.Cluster != l.key.Cluster:
		return problem.New("the exported ledger is about another cluster, whose objects are not in this one", elsewhere+": choose that cluster with --context").See("state")
	case f.Ledger.Project != l.key.Project:
		return problem.New(fmt.Sprintf("the exported ledger is about another project: %s, and this one is %s", f.Ledger.Project, l.key.Project),
			elsewhere+": a name in the Tiltfile makes it one project in every folder: project('NAME')").See("state")
	}
	a, err := l.archiveOf(f)
	if err != nil {
		return err
	}
	if len(a.content.lost) > 0 && !withoutSecrets {
		return lostSecrets(a.content.lost)
	}
	ctx, cancel := context.WithTimeout(ctx, copyPatience)
	defer cancel()
	_, err = l.receive(ctx, a)
	return err
}

// ExportKey returns the key of the ledger that an export was made of.
func (l *Ledger) ExportKey(doc []byte) (Key, error) {
	f, err := l.openExport(doc)
	return Key{Cluster: f.Ledger.Cluster, Project: f.Ledger.Project}, err
}

// openExport reads an export and checks it.
func (l *Ledger) openExport(doc []byte) (f exported, err error) {
	raw, _, err := l.vault.unpack(doc, exportPlace, exportTitle)
	if _, foreseen := problem.Of(err); foreseen {
		return f, err
	}
	var head struct {
		Kind    string `json:"kind"`
		Version int    `json:"version"`
	}
	const mend = "export the ledger again: hone state export FILE"
	if err == nil {
		err = json.Unmarshal(raw, &head)
	}
	switch {
	case err != nil:
		return f, problem.Wrap(err, "this is not an exported ledger, or it is damaged", mend)
	case head.Kind != exportKind:
		return f, problem.New(fmt.Sprintf("this is not an exported ledger: its kind is %q", head.Kind), mend)
	case head.Version != exportVersion:
		return f, problem.New(fmt.Sprintf("the exported ledger has version %d, but this version of hone supports only %d", head.Version, exportVersion),
			"use the version of hone that wrote it")
	}
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	err = strict.Decode(&f)
	if err == nil && strict.More() {
		err = errDamaged
	}
	for _, check := range exportChecks {
		if err == nil {
			err = check(f)
		}
	}
	if err != nil {
		return f, problem.Wrap(err, "the exported ledger is damaged", mend)
	}
	return f, nil
}

// exportChecks return why an export is no ledger.
var exportChecks = []func(exported) error{
	func(f exported) error {
		if f.Ledger.Format != format {
			return fmt.Errorf("the ledger has format %d, not %d", f.Ledger.Format, format)
		}
		return Key{Cluster: f.Ledger.Cluster, Project: f.Ledger.Project}.check()
	},
	func(f exported) error {
		last := 0
		for _, r := range f.Ledger.Revisions {
			if r.Number <= last {
				return fmt.Errorf("revision %d follows revision %d", r.Number, last)
			}
			last = r.Number
		}
		return nil
	},
	func(f exported) error {
		for number, raw := range f.Declared {
			known := slices.ContainsFunc(f.Ledger.Revisions, func(r Revision) bool { return r.Number == number })
			var objects Objects
			if err := json.Unmarshal(raw, &objects); err != nil {
				return fmt.Errorf("read the objects of revision %d: %w", number, err)
			}
			if !known {
				return fmt.Errorf("there are objects of revision %d, which is not in the history", number)
			}
		}
		return nil
	},
	func(f exported) error {
		owners := map[model.ObjectID]model.ManifestName{}
		for name, list := range f.Ledger.Resources {
			for _, r := range list {
				id := model.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
				other, has := owners[id]
				if twice := has && other == name; twice || slices.Contains([]string{r.Kind, r.Name, string(name)}, "") {
					return fmt.Errorf("resource %q has the object %q", name, id)
				}
				owners[id] = name
			}
		}
		for i, n := range f.Notes {
			_, recorded := owners[n.ID]
			sorted := i == 0 || compareNotes(f.Notes[i-1], n) < 0
			if known := slices.Contains(noteKinds, n.Kind); !recorded || !known || !sorted {
				return fmt.Errorf("a note of the kind %q about %q does not belong there", n.Kind, n.ID)
			}
		}
		return nil
	},
	func(f exported) error {
		for name, c := range f.Ledger.Commands {
			if name == "" || c.clear() {
				return fmt.Errorf("the command of %q is not encrypted", name)
			}
		}
		return nil
	},
}

// archiveOf returns the archive in an export.
func (l *Ledger) archiveOf(f exported) (archive, error) {
	c, err := l.contentOf(f.Ledger)
	c.tidy()
	a := archive{content: c, declared: map[int]json.RawMessage{}, notes: f.Notes}
	for number, raw := range maps.All(f.Declared) {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil { // as it was stored
			return a, err
		}
		a.declared[number] = b.Bytes()
	}
	for i := range a.notes {
		a.notes[i].At = a.notes[i].At.UTC().Truncate(time.Millisecond)
	}
	return a, err
}
