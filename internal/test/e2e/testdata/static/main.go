// Command static serves a folder on port 8080, or writes a file. It needs nothing from the image that it runs in.
package main

import (
	"log"
	"net/http"
	"os"
)

func main() {
	var err error
	switch os.Args[1] {
	case "serve":
		err = http.ListenAndServe(":8080", http.FileServer(http.Dir(os.Args[2])))
	case "write":
		err = os.WriteFile(os.Args[2], []byte(os.Args[3]), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}
