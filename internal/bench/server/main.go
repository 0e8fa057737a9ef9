// Command server stands for a program under development: it takes 10 ms to start, reads its text once, and answers every
// request on port 8080 with it. The benchmark of live updates runs it in a container.
package main

import (
	"net/http"
	"os"
	"time"
)

const startup = 10 * time.Millisecond

func main() {
	time.Sleep(startup)
	text, err := os.ReadFile("/app/text")
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	serve := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) }
	if err := http.ListenAndServe(":8080", http.HandlerFunc(serve)); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
