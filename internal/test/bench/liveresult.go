//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// target bounds a share of the times of a case, absolutely or as a multiple of the floor.
type target struct {
	share  float64 // 0.5 for the median
	limit  time.Duration
	floors float64 // instead of limit, if it is not 0
}

var (
	oneFile   = []target{{share: 0.5, limit: 3 * time.Millisecond}, {share: 0.5, floors: 3}, {share: 0.99, limit: 15 * time.Millisecond}}
	manyFiles = []target{{share: 0.9, limit: 300 * time.Millisecond}}
	serving   = []target{{share: 0.9, limit: 30 * time.Millisecond}}
	quickMB   = []target{{share: 0.5, limit: 15 * time.Millisecond}}
	rebuilt   = []target{{share: 0.5, limit: 60 * time.Millisecond}}
	appending = []target{{share: 1, limit: 3 * time.Second}}
)

// check returns the text of a target, and whether the times miss it.
func (t target) check(took times, floor time.Duration) (text string, missed bool) {
	limit, what := t.limit, short(t.limit)
	if t.floors > 0 {
		limit, what = time.Duration(t.floors*float64(floor)), fmt.Sprintf("%g floors", t.floors)
	}
	return fmt.Sprintf("%s ≤ %s", shareName(t.share), what), took.at(t.share) > limit
}

func shareName(share float64) string {
	if share == 1 {
		return "max"
	}
	return fmt.Sprintf("p%g", share*100)
}

// liveCase is one kind of save with its measurements. Times are only shown; a count that is not 0 is a failure, except
// for the execs of the update mode exec.
type liveCase struct {
	name, mode string
	took       times
	targets    []target
	// execs is the number of processes that were started from outside in the containers, lost is the number of saves that never
	// arrived, and starved is the number of saves that arrived only after the writing had stopped.
	execs, lost, starved int
	// reopens means that the conversations have to begin again.
	reopens bool
	// busy is the share of the machine's CPU time that all processes used meanwhile.
	busy float64
	// floor is the floor of this case; zero stands for the floor of the run. note is shown behind the case.
	floor time.Duration
	note  string
}

// over returns the floor that a case is compared with.
func (r *liveReport) over(c liveCase) time.Duration {
	if c.floor > 0 {
		return c.floor
	}
	return r.floor.at(0.5)
}

// failures returns the counts that are not as promised.
func (c liveCase) failures() []string {
	var out []string
	execs := c.execs
	if c.mode == "exec" || c.reopens {
		execs = 0 // they are needed
	}
	for _, count := range []struct {
		n    int
		what string
	}{{c.lost, "lost"}, {c.starved, "starved"}, {execs, "new exec streams"}} {
		if count.n > 0 {
			out = append(out, fmt.Sprintf("%s: %d %s", c.name, count.n, count.what))
		}
	}
	if len(c.took) == 0 {
		out = append(out, c.name+": nothing arrived")
	}
	return out
}

// missed returns the times that are not as promised.
func (c liveCase) missed(floor time.Duration) []string {
	var out []string
	for _, t := range c.targets {
		if text, missed := t.check(c.took, floor); missed {
			out = append(out, text)
		}
	}
	return out
}

// liveReport is a whole run.
type liveReport struct {
	floor   *floor
	cases   []liveCase
	began   time.Time
	took    time.Duration
	loads   [2]string // before and after
	session string    // the CPU time and memory of hone
}

func (r *liveReport) failures() []string {
	var out []string
	for _, c := range r.cases {
		out = append(out, c.failures()...)
	}
	return out
}

const liveLine = "  %-51s %-8s %6s %9s %9s %9s %9s %7s %6s %5s %5s  %s\n"

// table writes the report for people.
func (r *liveReport) table(w io.Writer) {
	fmt.Fprintf(w, "save → bytes in the container, seen by a witness through /proc/PID/root on the clock of the writer\n")
	fmt.Fprintf(w, "  floor %s = inotify wake-up %s + half of an echo of 1 KB over an open exec %s + write and rename in the container %s\n",
		short(r.floor.at(0.5)), short(r.floor.wake.median()), short(r.floor.echo.median()/2), short(r.floor.write.median()))
	fmt.Fprintf(w, "  p99 of each: %s, %s, %s; without pauses between the echoes: %s, %s in all; a new exec of true: %s\n\n",
		short(r.floor.wake.at(0.99)), short(r.floor.echo.at(0.99)/2), short(r.floor.write.at(0.99)),
		short(r.floor.awake.median()/2), short(r.floor.at(0.5)+(r.floor.awake.median()-r.floor.echo.median())/2), short(r.floor.exec.median()))
	fmt.Fprintf(w, liveLine, "", "mode", "n", "p50", "p90", "p99", "max", "÷ floor", "execs", "lost", "busy", "targets")
	fmt.Fprintf(w, "  %s\n", strings.Repeat("-", 155))
	for _, c := range r.cases {
		fmt.Fprintf(w, liveLine, c.name, c.mode, fmt.Sprint(len(c.took)), short(c.took.at(0.5)), short(c.took.at(0.9)),
			short(c.took.at(0.99)), short(c.took.at(1)), timesOver(c.took.at(0.5), r.over(c)), fmt.Sprint(c.execs),
			fmt.Sprint(c.lost+c.starved), fmt.Sprintf("%.0f%%", 100*c.busy), c.verdict(r.floor.at(0.5)))
	}
	fmt.Fprintf(w, "\n  over a line (round trip, rate of a connection): the floor is one way, and the least that is known to describe the content to someone who has the old one\n")
	fmt.Fprintf(w, "  busy: the share of this machine's CPU time that was used meanwhile, by everything; load %s before, %s after\n", r.loads[0], r.loads[1])
	fmt.Fprintf(w, "  other tools, measured earlier on a like machine: one file of 1 KB Tilt 247 / 260 / 262 ms, Skaffold 1,110 ms; 100 files Tilt 278 ms\n")
	fmt.Fprintf(w, "  hone: %s; measured in %s\n", r.session, r.took.Round(time.Second))
	for _, f := range r.failures() {
		fmt.Fprintf(w, "  FAILED: %s\n", f)
	}
}

// verdict returns the last column: each target, with those that are missed clearly marked.
func (c liveCase) verdict(floor time.Duration) string {
	var out []string
	for _, t := range c.targets {
		text, missed := t.check(c.took, floor)
		if missed {
			text = "MISSED " + text
		}
		out = append(out, text)
	}
	if c.floor > 0 {
		out = append(out, "floor "+short(c.floor))
	}
	if c.note != "" {
		out = append(out, c.note)
	}
	return strings.Join(append(out, c.failed()...), ", ")
}

func (c liveCase) failed() []string {
	var out []string
	for _, f := range c.failures() {
		out = append(out, "FAILED "+strings.TrimPrefix(f, c.name+": "))
	}
	return out
}

// json writes the report for programs. Durations are in milliseconds.
func (r *liveReport) json(w io.Writer) error {
	type line struct {
		Name    string   `json:"name"`
		Mode    string   `json:"mode"`
		N       int      `json:"n"`
		P50     float64  `json:"p50"`
		P90     float64  `json:"p90"`
		P99     float64  `json:"p99"`
		Max     float64  `json:"max"`
		Floors  float64  `json:"floors"`
		Execs   int      `json:"execs"`
		Lost    int      `json:"lost"`
		Starved int      `json:"starved"`
		Busy    float64  `json:"busy"`
		Missed  []string `json:"missed,omitempty"`
		Failed  []string `json:"failed,omitempty"`
	}
	out := struct {
		At     time.Time          `json:"at"`
		Took   float64            `json:"took"`
		Loads  [2]string          `json:"loads"`
		Hone   string             `json:"hone"`
		Floor  map[string]float64 `json:"floor"`
		Cases  []line             `json:"cases"`
		Failed []string           `json:"failed"`
	}{At: r.began, Took: millis(r.took), Loads: r.loads, Hone: r.session, Failed: r.failures(), Floor: map[string]float64{
		"sum": millis(r.floor.at(0.5)), "wake": millis(r.floor.wake.median()), "echo": millis(r.floor.echo.median()),
		"awake": millis(r.floor.awake.median()),
		"write": millis(r.floor.write.median()), "exec": millis(r.floor.exec.median()),
	}}
	for _, c := range r.cases {
		out.Cases = append(out.Cases, line{Name: c.name, Mode: c.mode, N: len(c.took), P50: millis(c.took.at(0.5)), P90: millis(c.took.at(0.9)),
			P99: millis(c.took.at(0.99)), Max: millis(c.took.at(1)), Floors: float64(c.took.at(0.5)) / float64(r.over(c)),
			Execs: c.execs, Lost: c.lost, Starved: c.starved, Busy: c.busy, Missed: c.missed(r.floor.at(0.5)), Failed: c.failed()})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
