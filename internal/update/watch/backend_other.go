//go:build !linux

package watch

func newBackend() backend { return newPortable() }
