package builderpod

import (
	"fmt"

	"github.com/hone-dev/hone/pkg/model"
)

// Version is the version of BuildKit whose images are used unless the Tiltfile names others.
const Version = "v0.34.2"

// Mode is a way to run the daemon.
type Mode string

// The modes, from the one that needs the fewest rights on the node.
const (
	// UserNamespace runs the daemon as the root user of a user namespace, which the kubelet makes for the pod: it has no rights outside.
	UserNamespace Mode = "user namespace"
	// Rootless runs the daemon as an ordinary user, who makes a user namespace. The pod's seccomp and AppArmor profiles have to allow that
	// (moby/buildkit#4022).
	Rootless Mode = "rootless"
	// Privileged runs the daemon as the root user of the node.
	Privileged Mode = "privileged"
)

// modes returns the modes to try, in their order. last, unless empty, is the one in which the daemon ran before: those ahead of it
// have been tried.
func modes(pod model.BuilderPod, last Mode) []Mode {
	all := []Mode{UserNamespace, Rootless}
	if pod.Privileged {
		all = append(all, Privileged)
	}
	for i, m := range all {
		if m == last {
			return append(append([]Mode{m}, all[:i]...), all[i+1:]...)
		}
	}
	return all
}

// image returns the image for a mode.
func (m Mode) image(pod model.BuilderPod) string {
	if pod.Image != "" {
		return pod.Image
	}
	if m == Rootless {
		return "docker.io/moby/buildkit:" + Version + "-rootless"
	}
	return "docker.io/moby/buildkit:" + Version
}

// Refusal says why a mode is not taken.
type Refusal struct {
	Mode Mode
	Why  string
}

// String is for people: "user namespace: no node supports it".
func (r Refusal) String() string { return fmt.Sprintf("%s: %s", r.Mode, r.Why) }

// Plan is the mode to take, with the reasons against those before it.
type Plan struct {
	// Mode is empty if there is none.
	Mode    Mode
	Against []Refusal
	// Volume is set if the cache has a volume, and outlives the pod.
	Volume bool
	// There is set if the builder is there already.
	There bool
}
