package model

import "time"

// BuildStep is a step of an update that builds, delivers or applies something, with how long it took. The steps of an update
// follow each other.
type BuildStep struct {
	Kind StepKind
	// What is the reference of the image, as the Tiltfile has it, for steps that concern one.
	What string
	Took time.Duration
}

// StepKind is what a step of an update does.
type StepKind string

// The kinds of steps.
const (
	// StepContext sends the build context to the builder; StepBuild is the rest of the build of the image.
	StepContext StepKind = "context"
	StepBuild   StepKind = "build"
	// StepPush brings an image to the cluster, however that is done.
	StepPush StepKind = "push"
	// StepApply applies objects, or runs the command that does.
	StepApply StepKind = "apply"
	// StepStart starts the containers of a Compose service.
	StepStart StepKind = "start"
	// StepRun runs the command of a local resource.
	StepRun StepKind = "run"
)
