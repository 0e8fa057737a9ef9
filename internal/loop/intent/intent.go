// Package intent turns users' requests into actions: trigger, restart, enable and disable, pause, forward a port, click, set
// arguments. The terminal, the routes of the HTTP API and its objects all go through this package, so that the same request is
// checked in the same way and has the same effect wherever it comes from.
package intent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Reason tells callers how to report a refused request.
type Reason int

// The reasons for a refusal.
const (
	// Invalid is the reason for a request that is incomplete or contradictory.
	Invalid Reason = iota + 1
	// Unknown is the reason for a request that names something that does not exist.
	Unknown
	// Impossible is the reason for a request that the current state of a resource or button does not allow.
	Impossible
)

// Refusal is the error of a request that the session refuses. It wraps a problem if the user can fix it.
type Refusal struct {
	Reason Reason
	Err    error
}

// Error returns the text of the wrapped error.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the wrapped error.
func (r *Refusal) Unwrap() error { return r.Err }

var _ error = (*Refusal)(nil)

// Why returns the reason for a refusal, or 0 for any other error.
func Why(err error) Reason {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return 0
}

func invalid(format string, args ...any) error {
	return &Refusal{Invalid, fmt.Errorf(format, args...)}
}

const (
	// listedNames is the maximum number of names that a mend lists.
	listedNames = 10
	// quoted is the maximum length of a name that a refusal quotes, in bytes.
	quoted = 100
)

// NoSuch refuses a request for a name that does not exist among the things of a kind; all are the names that do.
func NoSuch(what, name string, all []string) error {
	listed := strings.Join(all[:min(len(all), listedNames)], ", ")
	mend := "there are: " + listed
	switch more := len(all) - listedNames; {
	case len(all) == 0:
		mend = "there are none"
	case more > 0:
		mend += fmt.Sprintf(", and %d more", more)
	}
	return &Refusal{Unknown, problem.New(fmt.Sprintf("no %s is called %q", what, words.Clip(name, quoted)), suggest.Mend(name, all, mend))}
}

// NoResource is NoSuch for resources. It says so if the Tiltfile has failed, which may declare the missing one.
func NoResource(v store.View, name string, all []string) error {
	t := state.TheTiltfile(v)
	if t.Err == "" {
		return NoSuch("resource", name, all)
	}
	failure, _, _ := strings.Cut(t.Err, "\n")
	return &Refusal{Unknown, problem.New(fmt.Sprintf("no resource is called %q; the Tiltfile has failed: %s", words.Clip(name, quoted), failure),
		suggest.Mend(name, all, fmt.Sprintf("fix the Tiltfile; hone logs '%s' shows its log", model.TiltfileName)))}
}
