package buildcontrol

import (
	"fmt"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
)

// longestBackOff is the longest pause of the kubelet that an update waits for: a new image is there before the end of a longer one.
const longestBackOff = 20 * time.Second

// comeback examines a pod with a crashed container that an update in place is for. waits describes the restart that the update
// waits for, if the container will soon run again; cannot is why the update needs a new image instead. Both are empty if no such
// container has crashed, or if another container can take the update. A container that has crashed with files that its image
// lacks starts again without them, and then gets the newest ones. If it crashes with the files of its image, waiting helps only
// if a supervisor keeps it running. A container of Compose keeps its files, and is updated while it stands.
func comeback(r *resource, p state.Pod) (waits, cannot string) {
	if len(Live(*r.manifest, *r.update, r.pods)) > 0 {
		return "", ""
	}
	c, crashed := state.Crashed(p.Pod)
	if !crashed {
		return "", ""
	}
	ref, live := liveRef(*r.manifest, *r.update, c)
	if !live {
		return "", ""
	}
	steps, _, _ := r.manifest.LiveUpdateOf(ref)
	pause := state.BackOff(c)
	switch {
	case p.Overdue:
		return "", fmt.Sprintf("container %s of pod %s has crashed and does not start again", c.Name, p.Name)
	case pause > longestBackOff:
		return "", fmt.Sprintf("container %s of pod %s has crashed and is in back-off for %s", c.Name, p.Name, pause)
	case !r.update.Overlaid && steps.RestartProcess == nil:
		return "", fmt.Sprintf("container %s of pod %s crashes with the files of its image", c.Name, p.Name)
	case pause > 0:
		return fmt.Sprintf("container %s to start again: it is in back-off for %s", c.Name, pause), ""
	}
	return fmt.Sprintf("container %s to start again", c.Name), ""
}

// absent returns why an update in place that no longer waits finds no container.
func absent(r *resource) string {
	for _, p := range r.pods {
		if !r.inPlace || !p.Stands() {
			continue
		}
		if _, cannot := comeback(r, p); cannot != "" {
			return cannot
		}
	}
	return ""
}
