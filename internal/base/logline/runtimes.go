package logline

import "strings"

// runtimes are lines that the runtime of a language, a package manager or a tool writes in a format of its own.
var runtimes = ruled([]rule[Level]{
	{shape{prefix: "Exception in thread "}, Error},
	{shape{prefix: "Fatal error: "}, Error},
	{shape{prefix: "fatal error: "}, Error},
	{shape{prefix: "Segmentation fault"}, Error},
	{shape{prefix: "terminate called "}, Error},
	{shape{prefix: "Unhandled exception"}, Error},
	{shape{prefix: "UnhandledPromiseRejection"}, Error},
	{shape{prefix: "[UnhandledPromiseRejection"}, Error},
	{shape{prefix: "Uncaught "}, Error},
	{shape{prefix: "(node:", has: ") UnhandledPromiseRejection"}, Error},
	{shape{prefix: "(node:", has: "Error: "}, Error},
	{shape{prefix: "(node:", has: "Warning: "}, Warn},
	{shape{prefix: "npm ERR!"}, Error},
	{shape{prefix: "npm error "}, Error},
	{shape{prefix: "npm error\t"}, Error},
	{shape{prefix: "npm WARN "}, Warn},
	{shape{prefix: "npm warn "}, Warn},
	{shape{prefix: "error Command failed"}, Error}, // yarn
	{shape{prefix: "PHP Fatal error:"}, Error},
	{shape{prefix: "PHP Parse error:"}, Error},
	{shape{prefix: "PHP Warning:"}, Warn},
	{shape{prefix: "PHP Deprecated:"}, Warn},
	{shape{prefix: "PHP Notice:"}, Info},
	{shape{prefix: "make: *** "}, Error},
	{shape{prefix: "make[", has: "]: *** ", within: 16}, Error},
	{shape{prefix: "** (", has: "Error)", within: 80}, Error}, // Elixir
})

// special recognises formats that begin with the level in their own way, and lines of runtimes.
func special(t string) Level {
	if strings.IndexByte("IWEFD", t[0]) >= 0 && (klogged(t) || strings.HasPrefix(t[1:], ", [")) { // or Ruby's Logger
		return initials[t[0]]
	}
	return runtimes.of(t)
}

// klogged reports whether a letter, a date and a time begin the line: "E1123 12:00:00.000000".
func klogged(t string) bool { return digits(t, 1) == 4 && at(t, 5) == ' ' && clockAt(t, 6) > 0 }

// dying are lines below the time of a log entry with which a program in Go ends.
var dying = []string{"http: panic serving ", "panic: "}
