package terminal

// Description describes a terminal.
type Description struct {
	// Term and ColorTerm are the terminal's TERM and COLORTERM.
	Term, ColorTerm string
	// NoColor is set if the user wants no colours.
	NoColor bool
	// Program and Version name the program that shows the terminal, as far as known, such as TERM_PROGRAM and
	// TERM_PROGRAM_VERSION.
	Program, Version string
	// Background is COLORFGBG.
	Background string
	// Host is the name of the machine that the terminal is on.
	Host string
}
