package k8s

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/problem"
)

// troubleAfter is the time for which attempts to watch must have failed before the failure is reported. A forbidden
// watch stays forbidden and is reported at once.
const troubleAfter = 10 * time.Second

// trouble reports to OnTrouble why a watch does not work. Its owner calls one method at a time.
type trouble struct {
	tell    func(error)
	explain func(error) error
	kind    schema.GroupResource // the watched resource
	now     func() time.Time
	failing map[attempt]failure
	told    string // the summary, empty when there is no trouble
}

// attempt is one operation of a watch: a verb in a namespace. Each is allowed or forbidden separately.
type attempt struct{ verb, namespace string }

type failure struct {
	since time.Time
	err   error
}

func (c *Client) newTrouble(req WatchRequest, group, resource string) *trouble {
	return &trouble{tell: req.OnTrouble, explain: c.Explain, kind: schema.GroupResource{Group: group, Resource: resource}, now: time.Now,
		failing: map[attempt]failure{}}
}

// note records the result of an attempt. It ignores a cluster that does not answer: that is reported elsewhere, once
// for all watches.
func (t *trouble) note(a attempt, err error) {
	if t == nil || t.tell == nil {
		return
	}
	if err != nil && IsUnreachable(t.explain(err)) {
		return
	}
	if err == nil {
		delete(t.failing, a)
	} else {
		f, known := t.failing[a]
		if !known {
			f.since = t.now()
		}
		f.err = err
		t.failing[a] = f
	}
	worst := t.worst()
	summary := ""
	if worst != nil {
		summary = worst.Summary + worst.Mend // the wording of the cause may change each time
	}
	if summary != t.told {
		t.told = summary
		if worst == nil {
			t.tell(nil)
			return
		}
		t.tell(worst)
	}
}

// worst returns the problem to report. It is nil if there is none, or none for long enough.
func (t *trouble) worst() *problem.Problem {
	var out *problem.Problem
	for a, f := range t.failing {
		switch {
		case IsForbidden(f.err):
			return CannotWatch(f.err, t.kind, a.namespace)
		case t.told != "" || t.now().Sub(f.since) >= troubleAfter:
			out = CannotWatch(f.err, t.kind, a.namespace)
		}
	}
	return out
}

var refusedUser = regexp.MustCompile(`User "([^"]+)"`)

// CannotWatch returns the problem that objects of a kind cannot be watched in a namespace. An empty namespace means the
// whole cluster.
func CannotWatch(err error, kind schema.GroupResource, namespace string) *problem.Problem {
	where, flag, role := "", "", "clusterrole"
	if namespace != "" {
		where, flag, role = fmt.Sprintf(" in namespace %q", namespace), " -n "+namespace, "role"
	}
	summary := fmt.Sprintf("cannot watch %s%s", kind, where)
	if !IsForbidden(err) {
		return problem.Wrap(err, summary, fmt.Sprintf("hone keeps trying. See what the cluster reports:\nkubectl get %s%s --watch", kind, flag))
	}
	user := "USER"
	if m := refusedUser.FindStringSubmatch(err.Error()); m != nil {
		user = m[1]
	}
	name := "watch-" + strings.ReplaceAll(kind.String(), ".", "-")
	return problem.Wrap(err, summary, fmt.Sprintf("Ask an administrator of the cluster to allow it; hone then continues automatically:\n"+
		"kubectl create %[1]s %[2]s%[3]s --verb=get,list,watch --resource=%[4]s\n"+
		"kubectl create %[1]sbinding %[2]s%[3]s --%[1]s=%[2]s --user=%[5]s", role, name, flag, kind, user))
}
