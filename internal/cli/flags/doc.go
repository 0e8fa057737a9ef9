// Package flags holds the flags by which a command chooses a project, a running session or a port, and completes their values.
package flags
