//go:build linux

// Command synclet is the program that hone starts inside containers: it writes changed files, runs commands, and
// restarts the container's process.
package main

import (
	"os"

	"github.com/hone-dev/hone/internal/update/agent"
)

func main() { os.Exit(agent.Main(os.Args)) }
