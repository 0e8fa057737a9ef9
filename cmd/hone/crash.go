//go:build hone_crash && unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// crashVariable names a file. A hone that was built for tests of crashes panics with its text at a signal.
const crashVariable = "HONE_CRASH"

func init() {
	path := os.Getenv(crashVariable)
	if path == "" {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	go func() {
		<-asked
		text, _ := os.ReadFile(path)
		panic(string(text))
	}()
}
