// Package command holds the parts that all commands share: the standard streams, exit codes, output formats, groups of commands,
// the terminal, hone's folders, and the version.
package command
