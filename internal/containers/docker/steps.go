package docker

import (
	"fmt"
	"regexp"

	control "github.com/moby/buildkit/api/services/control"
)

// stepCount counts the numbered steps of a build: "[2/5] RUN make", or "[assets 2/5] RUN make" in one of several stages. The
// zero value is ready to use.
type stepCount struct {
	// known are the steps that BuildKit has named, with whether they have begun.
	known map[stepID]bool
	begun int
}

// stepID identifies a step. The stage includes the platform where several are built.
type stepID struct {
	stage string
	at    int
}

// take adds steps that BuildKit reports, and returns how many have begun and how many there are. A cached step counts as
// begun. BuildKit names every step that the image needs before it begins the first one, and each only once: of stages that
// begin with the same image, one has the step that loads it. So the highest numbers of the stages do not add up to the total.
func (c *stepCount) take(vertices []*control.Vertex) (begun, all int, changed bool) {
	for _, v := range vertices {
		stage, at, _, ok := numbered(v.Name)
		if !ok {
			continue
		}
		step := stepID{stage, at}
		before, known := c.known[step]
		now := v.Started != nil || v.Completed != nil || v.Cached
		if known && (before || !now) {
			continue
		}
		if c.known == nil {
			c.known = map[stepID]bool{}
		}
		c.known[step], changed = now, true
		if now {
			c.begun++
		}
	}
	return c.begun, len(c.known), changed
}

// stepName matches the number at the beginning of a step's name.
var stepName = regexp.MustCompile(`^\[(?:([^\]]*) )?(\d+)/(\d+)\] `)

// numbered returns the stage and the number of a step; ok is false for a step that is not one of the Dockerfile's.
func numbered(name string) (stage string, at, all int, ok bool) {
	m := stepName.FindStringSubmatch(name)
	if m == nil {
		return "", 0, 0, false
	}
	if _, err := fmt.Sscan(m[2]+" "+m[3], &at, &all); err != nil {
		return "", 0, 0, false
	}
	return m[1], at, all, at > 0 && at <= all
}
