// Package settings reads the user's choices for the screen: from a file of the user's configuration, and from variables of
// the environment, which win.
package settings
