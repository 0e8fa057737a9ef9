//go:build tools

// Package compose pins the version of Docker Compose that build makes.
package compose

import _ "github.com/docker/compose/v2/cmd"
