package buildanddeploy

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// Composite tries builders in the order that the update mode allows, until one does the update or fails for a reason
// that the next one would not fix.
type Composite struct {
	builders []BuildAndDeployer
	fallBack FallbackTester
	examine  Examiner
}

// FallbackTester decides whether the error of a builder lets the next one try.
type FallbackTester func(error) bool

// NewComposite returns the chain of the given builders, fastest first.
func NewComposite(builders ...BuildAndDeployer) *Composite {
	return &Composite{builders: builders, fallBack: ShouldFallBack}
}

// Examine sets the check of the containers before a failed update in place falls back to a builder that needs the
// cluster.
func (c *Composite) Examine(e Examiner) *Composite {
	c.examine = e
	return c
}

var _ BuildAndDeployer = (*Composite)(nil)

// Name implements BuildAndDeployer.
func (c *Composite) Name() string { return "auto" }

// Order returns the names of the builders that a mode allows, in the order in which they are tried.
func Order(mode model.UpdateMode) []string {
	switch mode {
	case model.UpdateImage, model.UpdateNaive:
		return []string{"local", "compose", "image"}
	case model.UpdateSynclet:
		return []string{"local", "synclet", "compose", "image"}
	case model.UpdateContainer:
		return []string{"local", "container", "compose", "image"}
	case model.UpdateExec:
		return []string{"local", "exec", "compose", "image"}
	case model.UpdateAuto:
	}
	return []string{"local", "synclet", "container", "exec", "compose", "image"}
}

// whole returns the name of the builder that rebuilds the whole resource, which the others fall back to.
func whole(m model.Manifest) string {
	if m.IsCompose() {
		return "compose"
	}
	return "image"
}

// BuildAndDeploy implements BuildAndDeployer.
func (c *Composite) BuildAndDeploy(ctx context.Context, req Request) (Result, error) {
	var total Result
	var last error
	said := ""
	whole := whole(req.Manifest)
	order := slices.DeleteFunc(Order(req.Mode), func(name string) bool {
		return (name == "image" || name == "compose") && (name != whole || req.InPlaceOnly)
	})
	for i := 0; i < len(order); i++ {
		name := order[i]
		at := slices.IndexFunc(c.builders, func(b BuildAndDeployer) bool { return b.Name() == name })
		if at < 0 || name == "exec" && k8s.IsForbidden(last) { // the synclet needs the same permission as exec
			continue
		}
		if verdict := c.verdict(ctx, req, total, last, name, whole); verdict != nil {
			total.FellBack = ""
			return total, verdict
		}
		if next := turning(last, name == whole); next != said {
			said = next
			logstore.Infof(req.Log, "%s", said)
		}
		req.overlay(total.Touched)
		req.FellBack = cmp.Or(total.FellBack, req.FellBack)
		r, err := c.builders[at].BuildAndDeploy(ctx, req)
		var declined *Declined
		if errors.As(err, &declined) {
			if ctx.Err() != nil { // the builder could not find out whether it applies
				return total, ctx.Err()
			}
			if last == nil {
				last = err
			}
			continue
		}
		total = merge(total, r, name)
		if err == nil || name == "image" || name == "local" || name == "compose" || !c.fallBack(err) {
			return total, err
		}
		if req.InPlaceOnly && (i+1 == len(order) || liveupdate.Classify(err) == liveupdate.FallBack) {
			last = err
			break
		}
		last = err
		total.FellBack = err.Error()
		if liveupdate.Classify(err) == liveupdate.FallBack || order[i+1] == whole {
			i = slices.Index(order, whole) - 1 // no other builder can make the change in place either
		}
	}
	if req.InPlaceOnly && ctx.Err() == nil {
		if last != nil {
			total.FellBack = last.Error() // as it would have
		}
		return total, problem.Wrap(last, "this change cannot be made in place, and anything else waits for you", "confirm the update (key P) or request it (key t)").See("preview")
	}
	return total, last
}

// turning says which way is tried after the failure of another one; it is empty if none has failed.
func turning(failure error, whole bool) string {
	switch {
	case failure == nil || errors.As(failure, new(*Declined)):
		return ""
	case whole:
		return "Falling back to a new image: " + failure.Error()
	}
	return "Trying another way: " + failure.Error()
}

// verdict returns why a failed update in place must not fall back to another builder that needs the cluster: the cluster
// is away, which is no reason for a new image, or the containers are gone, and others replace them. Containers of
// Compose are not examined: only Compose replaces one that is gone.
func (c *Composite) verdict(ctx context.Context, req Request, sofar Result, last error, next, whole string) error {
	failed := liveupdate.Classify(last) == liveupdate.Infra && !errors.As(last, new(*Declined))
	needsCluster := next == "exec" || next == whole
	if c.examine == nil || req.Manifest.IsCompose() || !failed || !needsCluster {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(req.Containers), func(c model.LackingContainer) bool { return slices.Contains(sofar.Synced, c.ID) })
	_, known := problem.Of(last)
	return explained(c.examine(ctx, left, next == whole && !known))
}

func merge(a, b Result, mode string) Result {
	if b.Mode == "" {
		b.Mode = mode
	}
	if b.FellBack == "" {
		b.FellBack = a.FellBack
	}
	b.Touched = append(b.Touched, a.Touched...)
	return b
}

// ShouldFallBack is the default FallbackTester: a failure of hone falls back, and so does a change that cannot be made
// in place; the user's own failing command and cancelled work do not.
func ShouldFallBack(err error) bool {
	switch liveupdate.Classify(err) {
	case liveupdate.FallBack, liveupdate.Infra:
		return true
	case liveupdate.Updated, liveupdate.UserError, liveupdate.Cancelled, liveupdate.Blocked:
	}
	return false
}
