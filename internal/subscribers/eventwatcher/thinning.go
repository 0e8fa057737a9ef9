package eventwatcher

import (
	"regexp"
	"strings"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// thinning says how often an event must have happened to be told of again. Kubernetes repeats itself: a container that cannot start
// leads to the same event every second.
type thinning map[topic]*repeats

// topic is what events say. Object is the UID of what they are about.
type topic struct{ object, said string }

// repeats is how often the events of a topic have happened, by their UIDs, and how often they must have to be told of again.
type repeats struct {
	counts map[string]int
	next   int
}

// remembered bounds how many topics are known; an hour of a large cluster's is less.
const remembered = 10_000

// What differs in what is said of the same failure: the port that the kubelet calls from, and that there were several.
var (
	callerPort = regexp.MustCompile(`:\d+->`)
	combined   = "(combined from similar events): "
)

// topicOf returns what an event says. An event has its own text, but for probes: each answer is an event.
func topicOf(e k8s.KubeEvent) topic {
	if e.Reason != unhealthy {
		return topic{e.ObjectUID, e.UID}
	}
	return topic{e.ObjectUID, e.Object.FieldPath + " " + callerPort.ReplaceAllString(strings.TrimPrefix(e.Message, combined), ":->")}
}

// pass returns how often what an event says has happened, if that is news: the first time, and whenever it has happened twice as
// often as last told. It returns 0 if it is none.
func (t thinning) pass(e k8s.KubeEvent) int {
	about := topicOf(e)
	r := t[about]
	if r == nil {
		if len(t) >= remembered {
			clear(t)
		}
		r = &repeats{counts: map[string]int{}}
		t[about] = r
	}
	r.counts[e.UID] = max(r.counts[e.UID], e.Count, 1)
	total := r.total()
	if total < r.next {
		return 0
	}
	r.next = 2 * total
	return total
}

// calm makes what happens to an object from now on news.
func (t thinning) calm(object string) {
	for about, r := range t {
		if about.object == object {
			r.next = r.total() + 1
		}
	}
}

func (r *repeats) total() (n int) {
	for _, count := range r.counts {
		n += count
	}
	return n
}
