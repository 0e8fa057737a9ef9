package view

import (
	"fmt"
	"time"
)

// Duration formats a duration in a suitable unit: "2.1 ms", "3.9 s", "1 m 12 s", "2 h 5 m".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d m", int(d.Hours()), int(d.Minutes())%60)
}

// Elapsed formats the time since a start, without digits that would only flicker: "8 s", "2 m 4 s".
func Elapsed(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	}
	return Duration(d)
}

// Age formats the time since another time: "now", "12 s", "4 m", "2 h", "3 d"; "–" for the zero time.
func Age(at, now time.Time) string {
	if at.IsZero() {
		return "–"
	}
	if d := now.Sub(at); d >= time.Second {
		return coarse(d)
	}
	return "now"
}

// ago formats the time since another time as a part of a sentence: "12 s ago", "just now".
func ago(at, now time.Time) string {
	if age := Age(at, now); age != "now" {
		return age + " ago"
	}
	return "just now"
}

// coarse formats a duration in its largest unit.
func coarse(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d d", int(d.Hours())/24)
	}
}
