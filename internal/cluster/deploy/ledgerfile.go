package deploy

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// ledgerFormat is the version of the file format. The first version stored the environment of commands in clear text, the first two
// their arguments.
const (
	ledgerFormat = 3
	firstFormat  = 1
)

// ledgerFile is the JSON form of the file.
type ledgerFile struct {
	Format    int                                   `json:"format"`
	Cluster   string                                `json:"cluster"`
	Project   string                                `json:"project"`
	Resources map[model.ManifestName][]recordOnDisk `json:"resources"`
	// Commands are the delete commands of resources that a user's command deployed.
	Commands map[model.ManifestName]commandOnDisk `json:"commands,omitempty"`
	// Ran are digests of the commands that ran last.
	Ran map[model.ManifestName]string `json:"ran,omitempty"`
}

type commandOnDisk struct {
	// Command is the encrypted argument list.
	Command string `json:"command,omitempty"`
	Dir     string `json:"dir,omitempty"`
	EchoOff bool   `json:"echoOff,omitempty"`
	// Clear are the variables that are not secret, as KEY=value.
	Clear []string `json:"clear,omitempty"`
	// Variables are the names of the other variables, Sealed their encrypted values.
	Variables []string `json:"variables,omitempty"`
	Sealed    string   `json:"sealed,omitempty"`
	// Secrets are the encrypted values in the command that are not shown, each after its name and key.
	Secrets string `json:"secrets,omitempty"`
	// Named are the encrypted values among Secrets that are also names of the project. Files of earlier versions have none.
	Named string `json:"named,omitempty"`
	// Deps are the dependencies that decide when a down command runs. Files of earlier versions have none.
	Deps Deps `json:"deps,omitempty"`
	// Argv and Env are fields of earlier formats that these replace.
	Argv []string `json:"argv,omitempty"`
	Env  []string `json:"env,omitempty"`
}

type recordOnDisk struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Group      string `json:"group,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
	Foreign    bool   `json:"foreign,omitempty"`
	Leaving    bool   `json:"leaving,omitempty"`
	Fresh      bool   `json:"fresh,omitempty"`
}

// parse reads the file's content.
func (l *Ledger) parse(raw []byte) (content, error) {
	var f ledgerFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return content{}, problem.Wrap(err, "the ledger "+l.path+" is damaged",
			"move it away; hone then no longer knows which objects earlier sessions applied, but the objects carry its labels")
	}
	if f.Format < firstFormat || f.Format > ledgerFormat {
		return content{}, problem.New(fmt.Sprintf("the ledger %s has format %d, but this version of hone supports only formats up to %d", l.path, f.Format, ledgerFormat),
			"use the version of hone that wrote it")
	}
	out := emptyContent()
	for name, c := range f.Commands {
		cmd, stale, err := l.fromDisk(name, c)
		if err != nil {
			return content{}, err
		}
		out.commands[name], out.stale = cmd, out.stale || stale
		if len(c.Deps) > 0 {
			out.deps[name] = c.Deps
		}
	}
	maps.Copy(out.ran, f.Ran)
	for name, list := range f.Resources {
		for _, r := range list {
			id := model.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
			out.objects[name] = append(out.objects[name], ObjectRecord{ObjectID: id, APIVersion: r.APIVersion, UID: r.UID, Foreign: r.Foreign, Leaving: r.Leaving, Fresh: r.Fresh})
		}
	}
	return out, nil
}

// write replaces the file in one step: a crash leaves the old content or the new.
func (l *Ledger) write(c content) error {
	f := ledgerFile{Format: ledgerFormat, Cluster: l.key.Cluster, Project: l.key.Project,
		Resources: make(map[model.ManifestName][]recordOnDisk, len(c.objects)),
		Commands:  make(map[model.ManifestName]commandOnDisk, len(c.commands)), Ran: c.ran}
	for name, cmd := range c.commands {
		onDisk, err := l.onDisk(name, cmd)
		if err != nil {
			return err
		}
		onDisk.Deps = c.deps[name]
		f.Commands[name] = onDisk
	}
	for name, list := range c.objects {
		for _, r := range list {
			f.Resources[name] = append(f.Resources[name], recordOnDisk{APIVersion: r.APIVersion, Group: r.Group, Kind: r.Kind,
				Namespace: r.Namespace, Name: r.Name, UID: r.UID, Foreign: r.Foreign, Leaving: r.Leaving, Fresh: r.Fresh})
		}
	}
	raw, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(l.path, append(raw, '\n'), 0o600)
}
