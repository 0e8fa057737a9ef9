package terminal

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
)

// Description describes a terminal.
type Description struct {
	// Term and ColorTerm are the terminal's TERM and COLORTERM.
	Term, ColorTerm string
	Columns, Rows   int
	// UTF8 is false for a terminal that shows only ASCII. NoColor is set if the user wants no colours.
	UTF8, NoColor bool
	// Programs is set if the client can give its terminal to the user's programs. Clients that cannot do not know these frames.
	Programs bool
	// Commands is set if the client can run its user's own commands, which Settings lists.
	Commands bool
	// Program and Version name the program that shows the terminal, as far as known, such as TERM_PROGRAM and
	// TERM_PROGRAM_VERSION.
	Program, Version string
	// Background is COLORFGBG.
	Background string
	// Host is the name of the machine that the client runs on.
	Host string
	// Settings are the user's choices for the screen, for package settings.
	Settings string
	// Suspends is set if the client can give its terminal back to a shell.
	Suspends bool
}

// maxSide bounds the memory of a screen, whatever size a client reports.
const maxSide = 1000

// validTerm matches valid names of terminals: they are used in file names, and as an argument of a program.
var validTerm = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9+._-]{0,63}$`)

// longest bounds the texts of a description, in bytes.
const (
	longest         = 256
	longestSettings = 32 << 10
)

// encode writes the description as the query of a URL.
func (d Description) encode() []byte {
	q := url.Values{
		"term": {d.Term}, "colorterm": {d.ColorTerm}, "columns": {strconv.Itoa(d.Columns)}, "rows": {strconv.Itoa(d.Rows)},
		"utf8": {strconv.FormatBool(d.UTF8)}, "nocolor": {strconv.FormatBool(d.NoColor)},
		"programs": {strconv.FormatBool(d.Programs)}, "commands": {strconv.FormatBool(d.Commands)}, "suspends": {strconv.FormatBool(d.Suspends)},
		"program": {d.Program}, "version": {d.Version}, "background": {d.Background}, "host": {d.Host}, "settings": {d.Settings},
	}
	return []byte(q.Encode())
}

// describe parses and validates a description.
func describe(hello []byte) (Description, error) {
	q, err := url.ParseQuery(string(hello))
	if err != nil {
		return Description{}, fmt.Errorf("read the description of the terminal: %w", err)
	}
	d := Description{Term: q.Get("term"), ColorTerm: q.Get("colorterm"), UTF8: q.Get("utf8") == "true", NoColor: q.Get("nocolor") == "true",
		Programs: q.Get("programs") == "true", Commands: q.Get("commands") == "true", Suspends: q.Get("suspends") == "true"}
	for name, to := range map[string]*string{"program": &d.Program, "version": &d.Version, "background": &d.Background, "host": &d.Host} {
		if *to = q.Get(name); len(*to) > longest {
			return d, fmt.Errorf("the %s of the terminal is %d bytes long", name, len(*to))
		}
	}
	if d.Settings = q.Get("settings"); len(d.Settings) > longestSettings {
		return d, fmt.Errorf("the settings of the screen are %d bytes long", len(d.Settings))
	}
	if !validTerm.MatchString(d.Term) {
		return d, fmt.Errorf("%q is not the name of a terminal", d.Term)
	}
	if d.Columns, err = side(q.Get("columns")); err != nil {
		return d, err
	}
	d.Rows, err = side(q.Get("rows"))
	return d, err
}

// side parses a width or a height.
func side(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not the size of a terminal", s)
	}
	return min(n, maxSide), nil
}
