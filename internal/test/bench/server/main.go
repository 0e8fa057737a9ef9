// Command server simulates a program under development: it takes 10 ms from its start to its first answer, reads its text once, and
// answers every request with it. The answer to /bytes?n=N is N bytes that cannot be compressed, and the answer to a request with a
// body is the number of its bytes. The benchmark of live updates runs it in a container. Arguments are the address and the file of
// the text.
package main

import (
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
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
	http.HandleFunc("/", serve)
	http.HandleFunc("GET /bytes", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.ParseInt(r.URL.Query().Get("n"), 10, 64)
		_, _ = io.CopyN(w, rand.NewChaCha8([32]byte{}), n)
	})
	http.HandleFunc("POST /bytes", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, strconv.FormatInt(n, 10))
	})
	if err := http.ListenAndServe(address, nil); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
