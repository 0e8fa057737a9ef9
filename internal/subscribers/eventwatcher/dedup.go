package eventwatcher

import (
	"regexp"
	"strings"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// dedup records the number of times that an event must have happened before it is reported again. Kubernetes repeats
// events: a container that cannot start leads to the same event every second.
type dedup map[topic]*repeats

// topic is the subject of events: the UID of the object that they are about, and their text.
type topic struct{ object, said string }

// repeats counts the events of a topic, by their UIDs; next is the count at which the topic is reported again.
type repeats struct {
	counts map[string]int
	next   int
}

// remembered bounds the known topics; a large cluster has fewer in an hour.
const remembered = 10_000

// These parts of the text differ between events about the same failure: the port that the kubelet calls from, and a prefix
// for several events.
var (
	callerPort = regexp.MustCompile(`:\d+->`)
	combined   = "(combined from similar events): "
)

// topicOf returns the topic of an event. An event is a topic of its own, except for probes: each answer is a separate
// event.
func topicOf(e k8s.KubeEvent) topic {
	if e.Reason != unhealthy {
		return topic{e.ObjectUID, e.UID}
	}
	return topic{e.ObjectUID, e.Object.FieldPath + " " + callerPort.ReplaceAllString(strings.TrimPrefix(e.Message, combined), ":->")}
}

// pass returns the number of times that the topic of an event has occurred, if that is news: the first time, and whenever
// it has occurred twice as often as last reported. Otherwise it returns 0.
func (t dedup) pass(e k8s.KubeEvent) int {
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

// calm makes future events of an object news.
func (t dedup) calm(object string) {
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
