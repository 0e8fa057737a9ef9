package tiltfiles

import (
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/hone-dev/hone/internal/tiltfile/profile"
	"github.com/hone-dev/hone/pkg/api"
)

// describeProfile returns a profile for programs, without calls whose total own time is below the threshold.
func describeProfile(p *profile.Profile, threshold time.Duration) *api.TiltfileProfile {
	out := &api.TiltfileProfile{TotalMillis: millis(p.Total), CompileMillis: millis(p.Compile), ProgramMillis: millis(p.Program()),
		AssemblyMillis: millis(p.Assembly), Builtins: []api.TiltfileTiming{}}
	for _, b := range p.Builtins {
		if b.Own < threshold {
			continue
		}
		t := api.TiltfileTiming{Name: b.Name, TiltfileCalls: describeCalls(b.CallTimes), Sites: []api.TiltfileSite{}}
		for _, s := range b.Sites {
			if s.Own >= threshold {
				t.Sites = append(t.Sites, api.TiltfileSite{File: s.File, Line: s.Line, TiltfileCalls: describeCalls(s.CallTimes)})
			}
		}
		out.Builtins = append(out.Builtins, t)
	}
	return out
}

func describeCalls(c profile.CallTimes) api.TiltfileCalls {
	return api.TiltfileCalls{Calls: c.Calls, Remembered: c.Remembered, TotalMillis: millis(c.Total), OwnMillis: millis(c.Own),
		SlowestMillis: millis(c.Slowest)}
}

// millis rounds to microseconds: shorter times are noise.
func millis(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

// mostSites bounds how many call sites the table shows of one builtin.
const mostSites = 3

// writeProfile prints a profile for people.
func writeProfile(out io.Writer, p api.TiltfileProfile) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	profileRow(w, "OWN", "TOTAL", "SLOWEST", "CALLS", "WHAT")
	for _, part := range []struct {
		name string
		ms   float64
	}{{"reading Starlark source", p.CompileMillis}, {"the program itself", p.ProgramMillis}, {"assembling resources", p.AssemblyMillis}} {
		profileRow(w, ms(part.ms), ms(part.ms), "", "", part.name)
	}
	for _, b := range p.Builtins {
		callsRow(w, b.TiltfileCalls, b.Name)
		for _, s := range b.Sites[:min(len(b.Sites), mostSites)] {
			callsRow(w, s.TiltfileCalls, fmt.Sprintf("  %s:%d", filepath.Base(s.File), s.Line))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s in all\n", ms(p.TotalMillis))
	return err
}

// profileRow writes a line: right-aligned numbers, then their left-aligned description.
func profileRow(w io.Writer, own, total, slowest, calls, what string) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t  %s\n", own, total, slowest, calls, what)
}

func callsRow(w io.Writer, c api.TiltfileCalls, what string) {
	if c.Remembered > 0 {
		what += fmt.Sprintf(" (%d remembered)", c.Remembered)
	}
	profileRow(w, ms(c.OwnMillis), ms(c.TotalMillis), ms(c.SlowestMillis), fmt.Sprint(c.Calls), what)
}

func ms(v float64) string { return fmt.Sprintf("%.3f ms", v) }
