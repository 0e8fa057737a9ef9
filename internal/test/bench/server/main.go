// Command server simulates a program under development: it takes 10 ms from its start to its first answer, reads its
// text once, and answers every request with it. The benchmark of live updates runs it in a container. Arguments are the
// address and the file of the text.
package main

import (
	"net/http"
	"os"
	"time"
)

// startup, together with the time of the kernel, the runtime and the first request, makes 10 ms of a start: the
// benchmark measures the whole start and prints it next to the restarts.
const startup = 6 * time.Millisecond

func main() {
	address, file := ":8080", "/app/text"
	if len(os.Args) == 3 {
		address, file = os.Args[1], os.Args[2]
	}
	time.Sleep(startup)
	text, err := os.ReadFile(file)
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	serve := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) }
	if err := http.ListenAndServe(address, http.HandlerFunc(serve)); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
