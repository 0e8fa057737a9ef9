package model

import (
	"fmt"
	"strings"
	"time"
)

// BuildStep is a step of an update that builds, delivers or applies something, with how long it took. The steps of an update
// follow each other.
type BuildStep struct {
	Kind StepKind
	// What is the reference of the image, as written in the Tiltfile, for steps that concern one.
	What string
	Took time.Duration
}

// LayersAhead is the transfer of layers that goes to the cluster beside the steps of an update: layers of the last version of an image, or
// of its base.
type LayersAhead struct {
	// Image is the reference of the image that the update builds, as the Tiltfile has it.
	Image string
	// From is the time since the begin of the update. Took ends with the update at the latest.
	From, Took time.Duration
}

// BuildProgress is the progress of the running step of an update.
type BuildProgress struct {
	// Kind is the step; empty for an update without steps, or before the first.
	Kind StepKind
	// Image is the reference of the image, as the Tiltfile has it, for steps that concern one. It is number Nth of the Images
	// that the update builds, counted from 1.
	Image       string
	Nth, Images int
	// Step is the number of steps of the image's Dockerfile that have begun, and Steps is the number of all of them. Both are 0 while
	// they are unknown, and for images that a command builds.
	Step, Steps int
	// Percent is the percentage of the image that has been sent, 1 to 100; 0 if it is unknown.
	Percent int
	// Waits is the reason why the step pauses, for the API server or for a builder; empty if it does not.
	Waits string
}

// String returns the numbers for people, "image 2 of 3, step 4 of 7" or "45 %"; empty if there are none.
func (p BuildProgress) String() string {
	var parts []string
	if p.Images > 1 {
		parts = append(parts, fmt.Sprintf("image %d of %d", p.Nth, p.Images))
	}
	switch {
	case p.Steps > 0:
		parts = append(parts, fmt.Sprintf("step %d of %d", p.Step, p.Steps))
	case p.Percent > 0:
		parts = append(parts, fmt.Sprintf("%d %%", p.Percent))
	}
	return strings.Join(parts, ", ")
}

// StepKind is the kind of work that a step of an update does.
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
