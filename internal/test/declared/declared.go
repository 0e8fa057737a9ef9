//go:build linux

// Package declared checks the condition that holds whatever has failed before: where hone reports that a resource is up to date,
// the cluster has its objects as declared, with nothing missing, nothing different and nothing left over, and its containers have
// the files of this machine. Other resources may be in any state.
//
// # Concurrency
//
// The package starts no goroutines. A Checker may be used by several goroutines at once.
package declared

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/pkg/api"
)

// Checker compares the reports of a session with the cluster and the containers.
type Checker struct {
	// Session finds the session.
	Session func(context.Context) (*client.Client, error)
	// Done is closed when the session has ended, and reports nothing any more.
	Done <-chan struct{}
	// Cluster is the session's cluster, accessed without hone; nil if it has none.
	Cluster *k8s.Client
	// Namespace is the namespace of the session's objects.
	Namespace string
	// Written holds the paths of files that have existed on this machine, so that a container must not have them once they are gone.
	Written map[string]bool
}

const (
	// patience is the time for which a report of hone may differ from the cluster: hone has to hear of a change first.
	patience = 20 * time.Second
	// patienceForRest is the time that a session may take to come to rest, so that it reports more.
	patienceForRest = time.Second
)

// Await waits until the session's reports are true, and returns the differences that stay. A session that ends reports nothing.
func (c Checker) Await(ctx context.Context) error {
	began := time.Now()
	return harness.Await(ctx, patience, "the session's reports to be true", func() error {
		err := c.check(ctx, time.Since(began) < patienceForRest)
		select {
		case <-c.Done:
			return nil
		default:
			return err
		}
	})
}

// errUpdating means that the session will report more resources as up to date.
var errUpdating = errors.New("an update runs")

// check checks all reports once. If the session is to rest, updates that run are an error.
func (c Checker) check(ctx context.Context, rest bool) error {
	s, err := c.Session(ctx)
	if err != nil {
		return err
	}
	if rest {
		v, err := s.View(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(v.Resources, updating) {
			return errUpdating
		}
	}
	faults, err := c.Faults(ctx)
	if err != nil {
		return fmt.Errorf("ask the session about its resources: %w", err)
	}
	var errs []error
	for _, f := range faults {
		errs = append(errs, fmt.Errorf("hone reports that %s", f))
	}
	return errors.Join(errs...)
}

// Faults returns the differences between the reports of hone and the state of the cluster and the containers.
func (c Checker) Faults(ctx context.Context) (faults []string, err error) {
	s, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	before, err := s.View(ctx)
	if err != nil {
		return nil, err
	}
	known, err := ask(ctx, s)
	if err != nil {
		return nil, err
	}
	found := map[string]error{}
	for _, r := range before.Resources {
		if settled(r) {
			found[r.Name] = c.hasFiles(r, before.StartedAt, known)
			if r.Status != "warning" { // which says that others have changed its objects
				found[r.Name] = errors.Join(found[r.Name], c.HasObjects(ctx, r.Name, known.applies[r.Name].Spec.YAML))
			}
		}
	}
	after, err := s.View(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range after.Resources {
		was := slices.IndexFunc(before.Resources, func(b api.Resource) bool { return b.Name == r.Name })
		steady := was >= 0 && settled(r) && reflect.DeepEqual(before.Resources[was].BuildHistory, r.BuildHistory)
		if err := found[r.Name]; err != nil && steady {
			faults = append(faults, fmt.Sprintf("%s is up to date, but %v", r.Name, err))
		}
	}
	return faults, nil
}

// updating reports whether an update runs.
func updating(r api.Resource) bool { return r.CurrentBuild != nil || r.Lag != nil }

// settled reports whether hone reports that a resource is up to date and works.
func settled(r api.Resource) bool {
	if r.UpdateStatus != "ok" || r.RuntimeStatus == "error" {
		return false
	}
	return !updating(r) && r.Waiting == nil
}
