package status

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
)

// Condition is an answer that clients can wait for.
type Condition struct {
	Met bool
	// Reason gives the cause in one word, "UpdateInProgress"; Message says more and may be empty.
	Reason, Message string
}

// UpToDate reports whether the newest state of the resource has been applied.
func (r *Resource) UpToDate() Condition {
	return r.enabled(Condition{r.Update.Done(), r.Update.Reason(), r.UpdateErr})
}

// Reason returns the status as the reason of a condition.
func (u Update) Reason() string { return word("Update", string(u)) }

// Ready reports whether the resource can be used, through its ports too.
func (r *Resource) Ready() Condition {
	c := Condition{r.runs(), word("Runtime", string(r.Runtime.Status)), r.RuntimeErr}
	switch {
	case c.Met && r.PortErr != "":
		c = Condition{false, reasonPort, r.PortErr}
	case c.Message == "":
		c.Message = r.Runtime.Message()
	}
	return r.enabled(c)
}

func (r *Resource) runs() bool {
	return r.Runtime.Status == buildcontrol.RuntimeOK || r.Runtime.Status == buildcontrol.RuntimeNotApplicable && r.Update.Done()
}

// Settled reports whether nothing is left to wait for: the newest state is applied, and its runtime is ready.
func (r *Resource) Settled() bool { return r.Update.Done() && r.Runtime.Status.Settled() }

// Failed reports whether waiting is useless: something has failed, and neither hone nor the cluster tries it again now.
func (r *Resource) Failed() Condition {
	if r.State != Failed {
		return Condition{Reason: word("", string(r.State))}
	}
	switch {
	case r.UpdateErr != "":
		return Condition{r.Update == UpdateError && r.Updates.RetryAt.IsZero(), "UpdateError", r.UpdateErr}
	case r.RuntimeErr != "":
		return Condition{!r.Runtime.Again, "RuntimeError", r.RuntimeErr}
	}
	return Condition{true, reasonPort, r.PortErr}
}

const reasonPort = "PortFailed"

// Missing returns why the resource is not settled: "is not ready: …".
func (r *Resource) Missing() string {
	switch u := r.Updates; {
	case u.Current != nil:
		return fmt.Sprintf("is being updated (%s)", cmp.Or(u.Current.Stage, "started"))
	case r.Hold != nil:
		return r.Text
	case !u.Succeeded:
		return "is not updated yet"
	}
	return "is not ready: " + cmp.Or(r.Runtime.Message(), string(r.Runtime.Status))
}

func (r *Resource) enabled(c Condition) Condition {
	if !r.Entry.Value.Enabled {
		c.Reason = "Disabled"
	}
	return c
}

// word converts a status to a reason: "UpdateInProgress".
func word(prefix, status string) string {
	for w := range strings.SplitSeq(status, "_") {
		if w != "" {
			prefix += strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return prefix
}
