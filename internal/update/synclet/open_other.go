//go:build !unix

package synclet

const atOnce = 0
