package model

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// ContainerUpdate is what an update in place did in one container.
type ContainerUpdate struct {
	Namespace, Pod, Container string
	// ID is the container engine's id.
	ID string
	// Mode is the way it went: "synclet", "container" or "exec".
	Mode string
	// Files were copied and Deletes deleted; Same needed neither, which only the synclet can tell. Bytes is the size of what
	// was copied.
	Files, Deletes, Same int
	Bytes                int64
	Stages               Stages
	// Err is why it failed, empty when it did not.
	Err string
	// Behind says that it goes on, while the update is over for the other containers.
	Behind bool
}

// Stages are how long the parts of an update in place took. They follow on each other, so that their sum is the time from
// the save to its effect. A part that there was not is zero.
type Stages struct {
	// Noticed is from the save until hone knew of it. The save is the newest change among the files taken in: by the time of
	// change that the file system has noted, which programs cannot set, where that is exact and this machine's own; else it
	// is the moment at which the system told of the change.
	Noticed time.Duration
	// Waited is until the update of this container began: for the files to settle where more than a copy is asked for, or for
	// an update that ran.
	Waited time.Duration
	// Sent is until the last byte was handed to the stream that leads into the container. It is zero where sending and
	// applying are one: tar through exec unpacks while it arrives, and so does a container engine.
	Sent time.Duration
	// Applied is until the container acknowledged that the files are in place.
	Applied time.Duration
	// Ran is until the last of the user's commands had ended.
	Ran time.Duration
	// Restarted is until the new process ran.
	Restarted time.Duration
}

// Total is the time from the save until all was done.
func (s Stages) Total() time.Duration {
	return s.Noticed + s.Waited + s.Sent + s.Applied + s.Ran + s.Restarted
}

// Stage is one of Stages, by name.
type Stage struct {
	Name string
	Took time.Duration
}

// All returns the stages that there were, in their order.
func (s Stages) All() []Stage {
	all := []Stage{{"noticed", s.Noticed}, {"waited", s.Waited}, {"sent", s.Sent}, {"applied", s.Applied}, {"ran", s.Ran}, {"restarted", s.Restarted}}
	out := all[:0]
	for _, p := range all {
		if p.Took > 0 {
			out = append(out, p)
		}
	}
	return out
}

// String is for people: "2.1 ms (noticed 0.3, sent 0.4, applied 1.4 ms)". All are in one unit, and what is nothing in it is
// left out.
func (s Stages) String() string {
	total, unit := s.text(s.Total())
	var parts []string
	for _, p := range s.All() {
		if text, _ := s.text(p.Took); text != "0.0" {
			parts = append(parts, p.Name+" "+text)
		}
	}
	if len(parts) == 0 {
		return total + unit
	}
	return total + unit + " (" + strings.Join(parts, ", ") + unit + ")"
}

// text is a duration in the unit that suits the total.
func (s Stages) text(d time.Duration) (number, unit string) {
	if s.Total() < 10*time.Second {
		return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)), " ms"
	}
	return fmt.Sprintf("%.1f", d.Seconds()), " s"
}

// String is for people: "1 file, 1.2 KB by synclet in 2.1 ms (noticed 0.3, sent 0.4, applied 1.4 ms)".
func (u ContainerUpdate) String() string {
	return fmt.Sprintf("%s by %s in %s", u.What(), u.Mode, u.Stages)
}

// What says what was done: "2 files, 1.2 KB, 1 delete", "nothing to send".
func (u ContainerUpdate) What() string {
	var parts []string
	if u.Files > 0 {
		parts = append(parts, count(u.Files, "file"), size(u.Bytes))
	}
	if u.Deletes > 0 {
		parts = append(parts, count(u.Deletes, "delete"))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing to send")
}

func count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// size is a number of bytes for people: "812 B", "1.2 KB", "3.4 MB".
func size(n int64) string {
	const k = 1000
	switch {
	case n < k:
		return fmt.Sprintf("%d B", n)
	case n < k*k:
		return fmt.Sprintf("%.1f KB", float64(n)/k)
	case n < k*k*k:
		return fmt.Sprintf("%.1f MB", float64(n)/(k*k))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(k*k*k))
}
