// Command api is the compiled half of the demo: an HTTP server that says where its words come from. A live update replaces
// its binary and restarts it, in the same container.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// greeting is the line to edit while the demo runs: save, and ask http://localhost:8000 again.
const greeting = "Hello from Go"

func main() {
	listen := flag.String("listen", ":8080", "the address to listen on")
	flag.Parse()
	log.SetFlags(log.Ltime | log.Lmicroseconds)
	// The first process of a container gets no signal that it did not ask for.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	server := &http.Server{Addr: *listen, Handler: routes(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			log.Fatal(err)
		}
	}()
	log.Printf("%s, listening on %s", greeting, server.Addr)

	<-ctx.Done()
	soon, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := server.Shutdown(soon); err != nil {
		log.Printf("requests cut short: %v", err)
	}
	log.Print("bye")
}

func routes() http.Handler {
	started := time.Now()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		log.Printf("%s %s", r.Method, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		// The page comes from another port, and so from another origin.
		w.Header().Set("Access-Control-Allow-Origin", "*")
		json.NewEncoder(w).Encode(map[string]string{
			"greeting": greeting,
			"message":  cmp.Or(os.Getenv("MESSAGE"), "(no MESSAGE in the environment)"),
			"pod":      os.Getenv("HOSTNAME"),
			"up":       time.Since(started).Round(time.Millisecond).String(),
		})
	})
	return mux
}
