// Command api is the compiled half of the demo: an HTTP server that says where its words come from.
//
// It restarts itself on SIGHUP, so that a live update which replaced its binary takes effect in the same container,
// without help from Kubernetes.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	log.SetFlags(log.Ltime | log.Lmicroseconds)
	// Asked now, because the answer for a file that was replaced meanwhile is "/app/api (deleted)".
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	// As process 1 of its container it gets no signal that it did not ask for.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)

	server := &http.Server{Addr: ":8080", Handler: routes(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			log.Fatal(err)
		}
	}()
	log.Printf("%s, listening on %s", greeting, server.Addr)

	asked := <-signals
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		log.Printf("requests cut short: %v", err)
	}
	if asked != syscall.SIGHUP {
		log.Printf("%v, bye", asked)
		return
	}
	log.Print("restart with the new binary")
	// The same process goes on with another program: to Kubernetes the container never stopped.
	log.Fatal(syscall.Exec(self, os.Args, os.Environ()))
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
