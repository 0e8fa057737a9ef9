package terminal

import (
	"os"
	"strconv"
	"strings"
)

// Abilities are the features of a terminal beyond drawing. Features that it is not known to have are left out, because a
// terminal that does not know a sequence may show it as text.
type Abilities struct {
	// Colors is set if it can be asked for its colours, and reports when they change.
	Colors bool
	// Links is set if it shows links, or leaves them out without a trace.
	Links bool
	// Title is set if its title can be changed.
	Title bool
	// Progress is set if it shows the progress of work, on the taskbar or in its tab.
	Progress bool
	// Notice is its way to show a message on the desktop.
	Notice Notice
	// Inside is the multiplexer that it runs in.
	Inside Multiplexer
}

// Notice is a way to show a message on the desktop.
type Notice string

// The ways. The bell says nothing in words, but every terminal has one.
const (
	Bell   Notice = "bell"
	OSC9   Notice = "osc9"   // the message
	OSC777 Notice = "osc777" // a title and the message
)

// Multiplexer is a program that shows terminals inside a terminal.
type Multiplexer string

// The multiplexers that hone distinguishes.
const (
	NoMultiplexer Multiplexer = ""
	Tmux          Multiplexer = "tmux"
	GNUScreen     Multiplexer = "screen"
)

// FromEnvironment returns the description of a process's terminal that its environment yields.
func FromEnvironment(getenv func(string) string) Description {
	d := Description{Term: getenv("TERM"), ColorTerm: getenv("COLORTERM"), NoColor: getenv("NO_COLOR") != "",
		Program: getenv("TERM_PROGRAM"), Version: getenv("TERM_PROGRAM_VERSION"), Background: getenv("COLORFGBG")}
	switch {
	case getenv("TMUX") != "":
		d.Program, d.Version = string(Tmux), ""
	case getenv("STY") != "":
		d.Program, d.Version = string(GNUScreen), ""
	case d.Program != "":
	case getenv("LC_TERMINAL") != "": // the only one that ssh passes on
		d.Program, d.Version = getenv("LC_TERMINAL"), getenv("LC_TERMINAL_VERSION")
	case getenv("WT_SESSION") != "":
		d.Program = "WindowsTerminal"
	case strings.EqualFold(getenv("ConEmuANSI"), "on"):
		d.Program = "ConEmu"
	case getenv("VTE_VERSION") != "":
		d.Program, d.Version = "VTE", getenv("VTE_VERSION")
	}
	d.Host, _ = os.Hostname()
	return d
}

// drawing are the beginnings of the names of terminals that understand the sequences of xterm, or skip unknown ones.
var drawing = []string{"xterm", "tmux", "rxvt", "alacritty", "foot", "kitty", "konsole", "gnome", "vte", "wezterm", "ghostty", "contour",
	"mintty", "iterm", "st-", "rio"}

// Abilities returns the abilities of the terminal.
func (d Description) Abilities() Abilities {
	a := Abilities{Notice: Bell}
	switch {
	case d.Program == string(Tmux) || strings.HasPrefix(d.Term, "tmux"):
		a.Inside = Tmux
	case d.Program == string(GNUScreen) || strings.HasPrefix(d.Term, "screen"):
		a.Inside = GNUScreen // it has no links and no colours to ask for, and its title is the name of a window
	}
	if a.Inside == GNUScreen || !d.is(drawing...) && a.Inside != Tmux {
		return a
	}
	a.Colors, a.Title, a.Links = true, true, true
	if a.Inside == Tmux {
		return a // the terminal around it may be another one tomorrow
	}
	a.Links = !(d.Program == "VTE" && number(d.Version) < 5000) // the versions before show the address as text
	a.Progress = d.progress()
	switch {
	case d.is("xterm-kitty", "kitty", "xterm-ghostty", "ghostty", "foot", "wezterm", "rxvt-unicode", "contour"),
		d.Program == "ghostty", d.Program == "WezTerm", d.Program == "contour":
		a.Notice = OSC777
	case d.Program == "iTerm.app", d.Program == "iTerm2", d.Program == "WarpTerminal":
		a.Notice = OSC9
	}
	return a
}

// is reports whether the name of the terminal begins with one of some words.
func (d Description) is(words ...string) bool {
	for _, w := range words {
		if strings.HasPrefix(d.Term, w) {
			return true
		}
	}
	return false
}

// progress reports whether the terminal shows progress. Others take the sequence for a message to show on the desktop.
func (d Description) progress() bool {
	switch d.Program {
	case "WindowsTerminal", "ConEmu", "ghostty":
		return true
	case "WezTerm":
		return d.Version >= "20250210" // its versions begin with a date
	case "iTerm.app", "iTerm2":
		return atLeast(d.Version, 3, 6, 6)
	case "VTE":
		return number(d.Version) >= 7900
	}
	return d.is("xterm-ghostty", "ghostty")
}

// atLeast reports whether a version is not before another one.
func atLeast(version string, least ...int) bool {
	parts := strings.Split(version, ".")
	for i, want := range least {
		got := -1
		if i < len(parts) {
			got = number(parts[i])
		}
		if got != want {
			return got > want
		}
	}
	return true
}

// number returns the number that s is; -1 if it is none.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
