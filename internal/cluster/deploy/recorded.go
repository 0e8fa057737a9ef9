package deploy

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// Recorded is an object or a command in a ledger, for people and programs. It has neither contents of objects nor arguments of commands.
type Recorded struct {
	// Cluster is the context of a cluster that the Tiltfile declares; empty for the project's own, and for records of this machine.
	Cluster string `json:"cluster,omitempty"`
	// Kind and Name name the object. The kind of a command is CommandKind, and its name the name of its resource.
	Kind      string             `json:"kind"`
	Name      string             `json:"name"`
	Namespace string             `json:"namespace,omitempty"`
	Group     string             `json:"group,omitempty"`
	Resource  model.ManifestName `json:"resource"`
	// Local is set for the down command of a local resource, which this machine records.
	Local bool          `json:"local,omitempty"`
	UID   string        `json:"uid,omitempty"`
	State RecordedState `json:"state"`
	// Revision is the number of the revision that wrote the object last; 0 if that is unknown.
	Revision int `json:"revision,omitempty"`
	// Since is the time of that write, if it is known.
	Since time.Time `json:"since,omitzero"`
}

// Title names the object as kubectl does: "deployment.apps/web".
func (r Recorded) Title() string {
	kind := r.Kind
	if r.Group != "" {
		kind += "." + r.Group
	}
	return strings.ToLower(kind) + "/" + r.Name
}

// ID returns the identity of the object.
func (r Recorded) ID() model.ObjectID {
	return model.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// CommandKind is the kind of recorded commands, and CommandWord its form in Title.
const (
	CommandKind = "Command"
	CommandWord = "command"
)

// RecordedState is the state of a record.
type RecordedState string

// The states of records.
const (
	// RecordPending: the object is about to be applied, or its first apply has failed.
	RecordPending RecordedState = "pending"
	RecordApplied RecordedState = "applied"
	// RecordAdopted: the object existed before hone, which gives it back.
	RecordAdopted RecordedState = "adopted"
	// RecordShared: several projects share the object.
	RecordShared RecordedState = "shared"
	// RecordUsed: the object belongs to others, and hone never deletes it.
	RecordUsed RecordedState = "used"
	// RecordCommanded: a command of the user has applied the object, and another one deletes it.
	RecordCommanded RecordedState = "by command"
	// RecordLeaving: the object is no longer declared, and about to be deleted.
	RecordLeaving RecordedState = "leaving"
	// RecordRuns: the command runs at hone down, or when its resource leaves.
	RecordRuns RecordedState = "runs at down"
)

// recordStates are the rules about the states of records. The first one that fits decides.
var recordStates = []struct {
	state RecordedState
	when  func(Memory, ledger.Record, model.Cmd) bool
}{
	{RecordLeaving, func(_ Memory, r ledger.Record, _ model.Cmd) bool { return r.Leaving }},
	{RecordCommanded, func(_ Memory, r ledger.Record, c model.Cmd) bool { return r.Foreign && !c.Empty() }},
	{RecordUsed, func(_ Memory, r ledger.Record, _ model.Cmd) bool { return r.Foreign }},
	{RecordPending, func(_ Memory, r ledger.Record, _ model.Cmd) bool { return r.UID == "" }},
	{RecordAdopted, func(m Memory, r ledger.Record, _ model.Cmd) bool { return m.adopted(r) }},
	{RecordShared, func(m Memory, r ledger.Record, _ model.Cmd) bool {
		u := m.Remembered(r.ObjectID)
		return u != nil && isShared(u)
	}},
}

func (m Memory) stateOf(r ledger.Record, command model.Cmd) RecordedState {
	for _, rule := range recordStates {
		if rule.when(m, r, command) {
			return rule.state
		}
	}
	return RecordApplied
}

// adopted reports whether a recorded object existed before hone took it over.
func (m Memory) adopted(r ledger.Record) bool {
	f := asFound{}
	if raw := m.Note(ledger.Found, r.ObjectID); raw == nil || json.Unmarshal(raw, &f) != nil {
		return false
	}
	return f.Object != nil && string(f.Object.GetUID()) == r.UID
}

// Recorded returns everything that the ledger records, by resource.
func (m Memory) Recorded() ([]Recorded, error) {
	all, err := m.Resources()
	if err != nil {
		return nil, err
	}
	commands, err := m.Commands()
	if err != nil {
		return nil, err
	}
	var out []Recorded
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, r := range all[name] {
			out = append(out, Recorded{Kind: r.Kind, Name: r.Name, Namespace: r.Namespace, Group: r.Group, Resource: name, UID: r.UID,
				State: m.stateOf(r, commands[name]), Revision: r.Revision, Since: m.WrittenAt(r.ObjectID)})
		}
		if !commands[name].Empty() {
			out = append(out, Recorded{Kind: CommandKind, Name: string(name), Resource: name, State: RecordRuns})
		}
	}
	return out, nil
}
