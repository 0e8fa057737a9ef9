package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// prices is a service in Go whose program panics a moment after its start, and a resource that waits for it.
var prices = `
-- Tiltfile --
local_resource('prices-compile', 'CGO_ENABLED=0 go build -o build/prices .', deps=['main.go', 'go.mod'])
docker_build('prices', '.', only=['build'])
k8s_yaml('prices.yaml')
k8s_resource('prices', resource_deps=['prices-compile'])
local_resource('shop-window', 'true', resource_deps=['prices'])
-- Dockerfile --
FROM busybox
COPY build/prices /prices
ENTRYPOINT ["/prices"]
-- go.mod --
module prices.local

go 1.24
-- main.go --
package main

import (
	"log"
	"net/http"
)

var stock = []int{7, 9, 11}

func price(of int) int { return stock[of] }

func main() {
	log.Print("reading the prices")
	log.Printf("the last price is %d", price(len(stock)))
	log.Fatal(http.ListenAndServe(":80", nil))
}
-- prices.yaml --
` + deployment("prices", `
terminationGracePeriodSeconds: 0
containers:
- name: prices
  image: prices
  ports: [{containerPort: 80}]
  readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 1}
`)

// TestHUDFindsTheErrorOfACrashLoop goes the way of a user whose program panics: the card shows the panic, the editor opens
// where it happened, and after the mend the card says that the failure is gone.
func TestHUDFindsTheErrorOfACrashLoop(t *testing.T) {
	t.Parallel()
	p := newProject(t, prices)
	editor, opened := filepath.Join(p.state, "editor.sh"), filepath.Join(p.state, "opened")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho \"$@\" > "+opened+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "VISUAL="+editor, "EDITOR="+editor)
	term := p.terminal(120, 34)
	p.hud(term)
	term.shows(`✖ prices .*crash loop`)
	term.shows(`✖ 1 failing`)
	term.shows(`◌ shop-window +waits for prices to be ready`)

	term.keys("e")
	term.shows(`✖ prices ─ crash loop.* 1 of 1 ─`)
	// On the card, not in the log above it: the card has the lines a moment later.
	screen := term.shows(`(?s)✖ prices ─.*panic: runtime error: index out of range \[3\] with length 3.*main\.go:10`)
	_, card, _ := strings.Cut(screen, "✖ prices ─")
	for _, want := range []string{`main\.go:10`, `exited with code 2|exit code 2|exit 2`, `prices → shop-window`} {
		if !regexp.MustCompile(want).MatchString(card) {
			t.Errorf("the card lacks %q:\n%s", want, card)
		}
	}
	if strings.Contains(card, "back-off") {
		t.Errorf("the card repeats what Kubernetes says instead of the program:\n%s", card)
	}

	term.keys("o")
	k8stest.Eventually(t, "the editor to open the line of the panic", func() error {
		b, err := os.ReadFile(opened)
		if err == nil && !strings.Contains(string(b), filepath.Join(p.dir, "main.go")) {
			err = fmt.Errorf("it opened %s", b)
		}
		return err
	})
	term.shows(`✖ prices ─ crash loop`) // back from the editor, where the user was

	p.replace("main.go", "len(stock))", "len(stock)-1)")
	term.shows(`this failure is gone`)
	term.shows(`✔ prices +ok  image.*running 1/1`)
	term.shows(`✔ shop-window +ok  local`)
	if screen := term.screen(); strings.Contains(screen, "failing") {
		t.Errorf("something still fails:\n%s", screen)
	}
	term.keys("e")
	term.shows(`nothing is failing`)
	term.quits()
}

// TestHUDShowsASilentCluster puts the API server behind a wire that stops forwarding, with connections open: the screen marks the
// facts that are no longer known, suggests a fix, and removes the message when the wire forwards again.
func TestHUDShowsASilentCluster(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "k8s_yaml(", "local_resource('here', serve_cmd='exec sleep 100000')\nk8s_yaml(")
	w, kubeconfig := newWire(t)
	p.env = []string{"KUBECONFIG=" + kubeconfig}
	term := p.terminal(120, 34)
	p.hud(term)
	term.shows(`✔ web .*running 1/1 +\d+ ✔`)
	term.shows(`✔ here `)

	w.stall()
	screen := term.shows(`\? web .*unknown since \d\d:\d\d`)
	for _, want := range []string{`✔ 2 ok +\? 1 unknown`, `✔ here .*pid \d+`, `(?m)^ cluster \S+ does not answer .*! reads it whole`} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("the screen lacks %q:\n%s", want, screen)
		}
	}
	term.keys("!")
	term.shows(`─ notices ─`)
	screen = term.shows(`since \d\d:\d\d:\d\d`)
	if !strings.Contains(strings.Join(strings.Fields(screen), " "), w.Address()) {
		t.Errorf("the notice does not say which server is silent:\n%s", screen)
	}

	w.Flow()
	term.shows(`there are no notices any more`)
	term.keys("Escape")
	screen = term.shows(`✔ web .*running 1/1 +\d+ ✔`)
	for _, not := range []string{"unknown", "does not answer"} {
		if strings.Contains(screen, not) {
			t.Errorf("the screen still shows %q:\n%s", not, screen)
		}
	}
	if !strings.Contains(screen, "✔ 3 ok") {
		t.Errorf("the header does not count what is known again:\n%s", screen)
	}
	term.quits()
}
