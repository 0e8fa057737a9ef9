package model

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// ContainerUpdate is the result of an in-place update of one container.
type ContainerUpdate struct {
	Namespace, Pod, Container string
	// ID is the container engine's id.
	ID string
	// Mode is the way in which the update was done: "synclet", "container" or "exec".
	Mode string
	// Files is the number of files copied, Deletes the number of files deleted, and Same the number of files that needed
	// neither, which only the synclet reports. Bytes is the size of the copied files.
	Files, Deletes, Same int
	Bytes                int64
	Stages               Stages
	// Err is the reason why the update failed; empty when it succeeded.
	Err string
	// Behind means that the update of this container is still running after the update of the others has ended.
	Behind bool
}

// Stages are the durations of the stages of an in-place update. Each stage begins where the previous one ended, so their sum
// is the time from the save to its effect. A stage that did not take place is zero.
type Stages struct {
	// Noticed is from the save until hone noticed it. The time of the save is the time of the newest change among the
	// included files. It is the change time (ctime) that the file system recorded, which programs cannot set, if that time is
	// exact and from this machine's clock; else it is the moment when the system reported the change.
	Noticed time.Duration
	// Waited is until the update of this container began. It is spent waiting for the files to settle, if more than a copy is
	// required, or for a running update.
	Waited time.Duration
	// Sent is until the last byte was written to the stream into the container. It is zero where sending and applying are one
	// stage: tar through exec and container engines unpack the data as it arrives.
	Sent time.Duration
	// Applied is until the container acknowledged that the files are in place.
	Applied time.Duration
	// Ran is until the last of the user's commands ended.
	Ran time.Duration
	// Restarted is until the new process was running.
	Restarted time.Duration
}

// Total returns the time from the save until the end of the update.
func (s Stages) Total() time.Duration {
	return s.Noticed + s.Waited + s.Sent + s.Applied + s.Ran + s.Restarted
}

// Stage is one of the Stages, with its name.
type Stage struct {
	Name string
	Took time.Duration
}

// All returns the stages that took place, in order.
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

// String formats the stages for display: "2.1 ms (noticed 0.3, sent 0.4, applied 1.4 ms)". All durations have the same unit.
// Durations that are zero in that unit are omitted.
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

// text formats a duration in the unit that suits the total.
func (s Stages) text(d time.Duration) (number, unit string) {
	if s.Total() < 10*time.Second {
		return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)), " ms"
	}
	return fmt.Sprintf("%.1f", d.Seconds()), " s"
}

// String formats the update for display: "1 file, 1.2 KB by synclet in 2.1 ms (noticed 0.3, sent 0.4, applied 1.4 ms)".
func (u ContainerUpdate) String() string {
	return fmt.Sprintf("%s by %s in %s", u.What(), u.Mode, u.Stages)
}

// What describes the update: "2 files, 1.2 KB, 1 delete", "nothing to send".
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

// size formats a number of bytes for display: "812 B", "1.2 KB", "3.4 MB".
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
