package api

import (
	"slices"
	"time"
)

// Plan lists the changes that an operation would make, as the API server predicts them before anything is written.
type Plan struct {
	// Evaluation counts the evaluations of the Tiltfile in the session that made the plan; 0 without a session. ConfirmRequest takes it.
	Evaluation int `json:"evaluation,omitempty"`
	// Tiltfile is the path of the Tiltfile, and Context the context of the kubeconfig.
	Tiltfile string `json:"tiltfile"`
	Context  string `json:"context"`
	// Revision is the revision whose differences from the one before the steps are; nil for a plan of changes to come.
	Revision *Revision `json:"revision,omitempty"`
	// Images are the images that the operation would build, or take from a registry.
	Images []PlanImage `json:"images,omitempty"`
	// Steps are in the order in which the operation would begin them.
	Steps []PlanStep `json:"steps"`
	// Summary counts the steps by action.
	Summary map[PlanAction]int `json:"summary"`
}

// Changes reports whether the operation would change anything. The effect of a step that only runs is unknown: such a step counts
// as a change if it is new, or differs from the last run.
func (p Plan) Changes() bool {
	if slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return s.Changed }) {
		return true
	}
	for action, n := range p.Summary {
		if n > 0 && !slices.Contains(noChange, action) {
			return true
		}
	}
	return false
}

// Tried reports whether the plan has the names of images that a builder has built only for it: nothing else has them.
func (p Plan) Tried() bool {
	return slices.ContainsFunc(p.Images, func(im PlanImage) bool { return im.Source == ImageBuilt && im.Digest != "" })
}

// noChange are the actions that change no object.
var noChange = []PlanAction{ActionUnchanged, ActionKeep, ActionRun}

// PlanAction is the action of an operation on an object.
type PlanAction string

// The actions.
const (
	// ActionCreate, ActionUpdate and ActionUnchanged: the object is made, changed in place, or stays as it is.
	ActionCreate    PlanAction = "create"
	ActionUpdate    PlanAction = "update"
	ActionUnchanged PlanAction = "unchanged"
	// ActionReplace: the object is deleted and made again, because fields of it cannot be changed.
	ActionReplace PlanAction = "replace"
	// ActionAdopt: the object was made by others, and is taken over.
	ActionAdopt PlanAction = "adopt"
	// ActionHandOver: the object passes from one resource of the project to another.
	ActionHandOver PlanAction = "hand over"
	// ActionDelete: the object is no longer declared, and is deleted.
	ActionDelete PlanAction = "delete"
	// ActionKeep: the object is no longer declared, and stays because of its kind or of a policy.
	ActionKeep PlanAction = "keep"
	// ActionOrphan: the object stays, and hone no longer knows it.
	ActionOrphan PlanAction = "orphan"
	// ActionRun: the command of a local resource runs, or its server starts; a command deploys; or Docker Compose brings a service up to
	// date.
	ActionRun PlanAction = "run"
	// ActionBlocked: the operation cannot do it.
	ActionBlocked PlanAction = "blocked"
)

// PlanStep is the action on one object.
type PlanStep struct {
	Object PlanObject `json:"object"`
	// Cluster is the name of the declared cluster of the object; empty for the session's own.
	Cluster string `json:"cluster,omitempty"`
	// Resource is the resource that the object belongs to.
	Resource string     `json:"resource"`
	Action   PlanAction `json:"action"`
	// UID is the UID of the object in the cluster; empty if there is none.
	UID string `json:"uid,omitempty"`
	// Declared is a hash of the declared object, with images that are not built; empty for a Secret and for objects that are no
	// longer declared.
	Declared string `json:"declared,omitempty"`
	// Reason is the reason for the action, in a few words; empty where Fields show it.
	Reason string        `json:"reason,omitempty"`
	Fields []FieldChange `json:"fields,omitempty"`
	// Changed is set if the step runs something that is new or differs from the last run: its command, or the files and images that it
	// is declared to depend on.
	Changed bool `json:"changed,omitempty"`
	// Keep is set if a session applies the object again by itself when others change it (keep=True).
	Keep bool `json:"keep,omitempty"`
}

// PlanImage is an image of the Tiltfile that has no build of the same inputs on this machine, or that hone preview --build has built.
type PlanImage struct {
	// Image is its reference in the Tiltfile, and Resources are the resources that use it.
	Image     string          `json:"image"`
	Resources []string        `json:"resources"`
	Source    PlanImageSource `json:"source"`
	// Reference is its name in the cluster; empty if that is known only after the build.
	Reference string `json:"reference,omitempty"`
	// ID is its content id in the engine; empty if the engine does not have it.
	ID string `json:"id,omitempty"`
	// Registry is the registry that has it; empty for other sources.
	Registry string `json:"registry,omitempty"`
	// Digest is its digest there or, of an image that a builder has built for hone preview --build, the digest that its name comes from: of
	// its manifest or, where a node gets it, of its configuration.
	Digest string `json:"digest,omitempty"`
	// Reason is the reason for the build in a few words, and Inputs are the inputs that differ from the last build, the most telling ones
	// first. At most 100 of them are listed.
	Reason string       `json:"reason,omitempty"`
	Inputs []ImageInput `json:"inputs,omitempty"`
}

// PlanImageSource says where the image of a plan comes from.
type PlanImageSource string

// The sources.
const (
	// ImageToBuild: the operation builds it. Its name is known after that.
	ImageToBuild PlanImageSource = "build"
	// ImageBuilt: hone preview --build has built it, or found that it is built already.
	ImageBuilt PlanImageSource = "built"
	// ImageInRegistry: another machine has built it of the same inputs, and a registry has it.
	ImageInRegistry PlanImageSource = "registry"
)

// ImageInput is an input of an image's build that differs from the last build on this machine.
type ImageInput struct {
	Kind InputKind `json:"kind"`
	// Name is the name of a file, an argument, an image, a secret or an SSH agent; empty for other inputs. Files are relative to the build
	// context or to the folder of the build command.
	Name   string      `json:"name,omitempty"`
	Change InputChange `json:"change"`
}

// InputKind is the kind of an input.
type InputKind string

// The kinds.
const (
	InputDockerfile InputKind = "dockerfile"
	InputCommand    InputKind = "command"
	InputArgument   InputKind = "argument"
	// InputImage is an image that hone builds, and InputBase another image, that this one is based on.
	InputImage    InputKind = "image"
	InputBase     InputKind = "base"
	InputTarget   InputKind = "target"
	InputPlatform InputKind = "platform"
	InputNetwork  InputKind = "network"
	InputSecret   InputKind = "secret"
	InputSSH      InputKind = "ssh"
	// InputEntrypoint is the command of the image's containers, if hone restarts it.
	InputEntrypoint InputKind = "entrypoint"
	// InputOptions are the other arguments of custom_build.
	InputOptions InputKind = "options"
	InputFile    InputKind = "file"
	InputFolder  InputKind = "folder"
	InputLink    InputKind = "link"
	// InputRegistry is the registry in the image's name.
	InputRegistry InputKind = "registry"
	// InputSynclet and InputRules: this version of hone brings another synclet, or builds in another way.
	InputSynclet InputKind = "synclet"
	InputRules   InputKind = "rules"
)

// InputChange says how an input differs.
type InputChange string

// The changes.
const (
	InputChanged InputChange = "changed"
	InputNew     InputChange = "new"
	InputGone    InputChange = "gone"
)

// PlanLocal is the kind that stands for a local resource, whose commands make no objects. To delete it is to run its down command.
const PlanLocal = "local"

// PlanContainers is the kind that stands for the running containers of a resource, which an update changes in place.
const PlanContainers = "containers"

// PlanCustomDeploy is the kind that stands for the objects that a command of the Tiltfile deploys. To delete it is to run its
// delete command.
const PlanCustomDeploy = "k8s_custom_deploy"

// PlanCompose is the kind that stands for a service of Docker Compose.
const PlanCompose = "compose"

// PlanObject identifies an object.
type PlanObject struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// ChangeClass is the reason why a field changes.
type ChangeClass string

// The classes.
const (
	// ChangeWanted: the declaration has changed.
	ChangeWanted ChangeClass = "change"
	// ChangeDrift: the declaration is as it was applied, and the cluster differs. The operation reverts that.
	ChangeDrift ChangeClass = "drift"
	// ChangeConflict: the declaration has changed, and something else has set another value. The operation takes the declared one.
	ChangeConflict ChangeClass = "conflict"
	// ChangeRemoval: the field is no longer declared.
	ChangeRemoval ChangeClass = "removal"
)

// FieldChange is a field that an operation would change.
type FieldChange struct {
	// Path is the path of the field: spec.template.spec.containers[name=main].image.
	Path  string      `json:"path"`
	Class ChangeClass `json:"class"`
	// From is the value in the cluster and To the one after the operation; nil where there is none. The values of a Secret are
	// never shown: both are nil then, and Masked is set.
	From   any  `json:"from,omitempty"`
	To     any  `json:"to,omitempty"`
	Masked bool `json:"masked,omitempty"`
	// Applied is the value that was applied last; only for conflicts, and nil if it is not known.
	Applied any `json:"applied,omitempty"`
	// AfterBuild is set if the value is known only after the build of an image.
	AfterBuild bool `json:"afterBuild,omitempty"`
	// AfterApply is set if the value is taken from a field of another object, and is known only after that object is applied.
	AfterApply bool `json:"afterApply,omitempty"`
	// Manager is the field manager that set the value in the cluster, and At when; only for drift and conflicts.
	Manager string     `json:"manager,omitempty"`
	At      *time.Time `json:"at,omitempty"`
}

// ConfirmRequest is the body of POST /api/confirm. In a session that asks (hone up --confirm), it starts the updates and deletions
// that wait for the user's answer.
type ConfirmRequest struct {
	// Evaluation is the number of the evaluation behind the plan that the user has seen. If the Tiltfile was evaluated since, the
	// request is refused.
	Evaluation int `json:"evaluation"`
}

// ConfirmResult is the response to a ConfirmRequest: the resources that will be updated.
type ConfirmResult struct {
	Resources []string `json:"resources"`
}
