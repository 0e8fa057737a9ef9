package model

import (
	"fmt"
	"slices"
	"strings"
)

// InPlaceText says in one line which containers were updated in place, how, and how long the slowest of them took:
// "web of web-7d9c: 1 file, 1.2 KB by synclet in 2.1 ms", "api in 3 pods: 1 delete each by synclet in 7.0 ms, restarted".
// It is empty if none was.
func InPlaceText(all []ContainerUpdate) string {
	updated := slices.DeleteFunc(slices.Clone(all), func(u ContainerUpdate) bool { return u.Err != "" || u.Behind })
	if len(updated) == 0 {
		return ""
	}
	slowest := slices.MaxFunc(updated, func(a, b ContainerUpdate) int { return int(a.Stages.Total() - b.Stages.Total()) })
	did := whatAll(updated)
	if slowest.did() {
		took, unit := slowest.Stages.text(slowest.Stages.Total())
		did += " by " + slowest.Mode + " in " + took + unit
	}
	if slices.ContainsFunc(updated, func(u ContainerUpdate) bool { return u.Stages.Restarted > 0 }) {
		did += ", restarted"
	}
	return whereAll(updated) + ": " + did
}

// did reports whether the update changed or ran anything.
func (u ContainerUpdate) did() bool { return u.Files+u.Deletes > 0 || u.Stages.Total() > 0 }

// whereAll names the containers and their pods. The only container of a Compose service has no pod.
func whereAll(updated []ContainerUpdate) string {
	var names, pods []string
	for _, u := range updated {
		names, pods = addNew(names, u.Container), addNew(pods, u.Pod)
	}
	where := strings.Join(names, ", ")
	switch {
	case len(pods) > 1:
		return fmt.Sprintf("%s in %d pods", where, len(pods))
	case pods[0] == "" || pods[0] == where:
		return where
	}
	return where + " of " + pods[0]
}

func addNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// whatAll says what each of the containers got if they all got the same, else what they got together.
func whatAll(updated []ContainerUpdate) string {
	var together ContainerUpdate
	same := true
	for _, u := range updated {
		together.Files, together.Deletes, together.Bytes = together.Files+u.Files, together.Deletes+u.Deletes, together.Bytes+u.Bytes
		same = same && u.What() == updated[0].What()
	}
	switch {
	case !same:
		return together.What() + " altogether"
	case len(updated) > 1 && together.Files+together.Deletes > 0:
		return updated[0].What() + " each"
	}
	return updated[0].What()
}
