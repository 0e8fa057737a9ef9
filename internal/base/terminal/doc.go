// Package terminal describes terminals: their types, their sizes, and their abilities beyond drawing.
package terminal
