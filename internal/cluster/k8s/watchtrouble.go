package k8s

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/problem"
)

// troubleAfter is for how long attempts to watch must have failed for it to be told of. What is forbidden stays so, and is
// told at once.
const troubleAfter = 10 * time.Second

// trouble tells OnTrouble of what keeps a watch from working. Its owner sees to it that one method is called at a time.
type trouble struct {
	tell    func(error)
	explain func(error) error
	kind    schema.GroupResource // what is watched
	now     func() time.Time
	failing map[attempt]failure
	told    string // the summary, empty when there is no trouble
}

// attempt is one thing that a watch does: a verb in a namespace. Each can be allowed without the others.
type attempt struct{ verb, namespace string }

type failure struct {
	since time.Time
	err   error
}

func (c *Client) newTrouble(req WatchRequest, group, resource string) *trouble {
	return &trouble{tell: req.OnTrouble, explain: c.Explain, kind: schema.GroupResource{Group: group, Resource: resource}, now: time.Now,
		failing: map[attempt]failure{}}
}

// note takes in how an attempt went. That the cluster does not answer is no trouble of this
// watch, and is reported elsewhere, once for all watches.
func (t *trouble) note(a attempt, err error) {
	if t == nil || t.tell == nil || err != nil && IsUnreachable(t.explain(err)) {
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
		summary = worst.Summary + worst.Mend // the cause may be in other words each time
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

// worst returns the problem to tell of, nil when there is none or none for long enough.
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

// CannotWatch is the problem that objects of a kind cannot be watched in a namespace, or in the whole cluster.
func CannotWatch(err error, kind schema.GroupResource, namespace string) *problem.Problem {
	where, flag, role := "", "", "clusterrole"
	if namespace != "" {
		where, flag, role = fmt.Sprintf(" in namespace %q", namespace), " -n "+namespace, "role"
	}
	summary := fmt.Sprintf("cannot watch %s%s", kind, where)
	if !IsForbidden(err) {
		return problem.Wrap(err, summary, fmt.Sprintf("It is tried again all the time. See what the cluster says:\nkubectl get %s%s --watch", kind, flag))
	}
	user := "USER"
	if m := refusedUser.FindStringSubmatch(err.Error()); m != nil {
		user = m[1]
	}
	name := "watch-" + strings.ReplaceAll(kind.String(), ".", "-")
	return problem.Wrap(err, summary, fmt.Sprintf("Ask an administrator of the cluster to allow it; hone then continues by itself:\n"+
		"kubectl create %[1]s %[2]s%[3]s --verb=get,list,watch --resource=%[4]s\n"+
		"kubectl create %[1]sbinding %[2]s%[3]s --%[1]s=%[2]s --user=%[5]s", role, name, flag, kind, user))
}
