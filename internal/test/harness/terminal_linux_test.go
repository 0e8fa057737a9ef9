package harness

import (
	"os/exec"
	"testing"
	"time"
)

// TestTerminal types on a terminal, and lets a program ask it whether it has shown everything.
func TestTerminal(t *testing.T) {
	term, err := OpenTerminal(80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	c := exec.CommandContext(t.Context(), "sh", "-c", `read word; echo "it has $(stty size) for $word"; stty raw -echo; read go; printf '\033[5n'; head -c 4 | od -An -c`)
	term.Run(c)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	const limit = 20 * time.Second
	if _, err := term.Press("me\n", "it has 24 80 for me", limit); err != nil {
		t.Fatal(err)
	}
	if _, err := term.Press("go\n", `033   [   0   n`, limit); err != nil {
		t.Fatal(err)
	}
	if _, err := term.Press("x", "nothing", 10*time.Millisecond); err == nil {
		t.Error("a text that was not written was seen")
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
