// Package command holds what every command needs: the standard streams, exit codes, output formats, groups of commands, the
// terminal, hone's folders, and the version.
package command
