// Command restarting serves a text that it reads once, at its start. A text that begins with "exit" ends it.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	file := os.Args[1]
	data, err := os.ReadFile(file)
	text := strings.TrimSpace(string(data))
	if err != nil {
		text = "nothing"
	}
	fmt.Println("started with", text)
	if strings.HasPrefix(text, "exit") {
		os.Exit(3)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() {
		<-ended
		fmt.Println("asked to end")
		os.Exit(0)
	}()
	err = http.ListenAndServe(":8080", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, text)
	}))
	fmt.Println(err)
	os.Exit(1)
}
