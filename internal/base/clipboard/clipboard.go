// Package clipboard puts text into the clipboard of this machine with the programs that the system has for it.
package clipboard

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
	"unicode/utf16"
)

// ErrNone is returned where no program reaches a clipboard: none is installed, or there is no desktop.
var ErrNone = errors.New("no clipboard that a program reaches")

// patience bounds the time of a program. One that asks a display that does not answer would wait forever.
const patience = 3 * time.Second

// tool is a program that reads a text from its standard input.
type tool struct {
	argv []string
	// needs are the environment variables without which the tool cannot reach a clipboard.
	needs []string
	// here is set if the clipboard belongs to this machine, which is not the user's machine in a session of SSH.
	here bool
	// utf16 is set if it takes text in UTF-16, as Windows programs do.
	utf16 bool
}

// tools are the programs, the first of which that can work is used.
func tools(goos string) []tool {
	windows := tool{argv: []string{"clip.exe"}, here: true, utf16: true}
	switch goos {
	case "darwin":
		return []tool{{argv: []string{"pbcopy"}, here: true}}
	case "windows":
		return []tool{windows}
	}
	return []tool{
		{argv: []string{"wl-copy"}, needs: []string{"WAYLAND_DISPLAY"}},
		{argv: []string{"xclip", "-in", "-selection", "clipboard"}, needs: []string{"DISPLAY"}},
		{argv: []string{"xsel", "--input", "--clipboard"}, needs: []string{"DISPLAY"}},
		windows, // in the Windows Subsystem for Linux
	}
}

// works reports whether the environment is one in which the tool reaches the user's clipboard.
func (t tool) works(env func(string) string, look func(string) (string, error)) bool {
	for _, name := range t.needs {
		if env(name) == "" {
			return false
		}
	}
	if t.here && (env("SSH_CONNECTION") != "" || env("SSH_TTY") != "") {
		return false
	}
	_, err := look(t.argv[0])
	return err == nil
}

// Copy puts a text into the clipboard, or returns ErrNone. It takes a few seconds at most.
func Copy(ctx context.Context, text string) error {
	for _, t := range tools(runtime.GOOS) {
		if t.works(os.Getenv, exec.LookPath) {
			return t.copy(ctx, text)
		}
	}
	return ErrNone
}

func (t tool) copy(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if t.utf16 {
		text = wide(text)
	}
	c := exec.CommandContext(ctx, t.argv[0], t.argv[1:]...)
	c.Stdin = strings.NewReader(text)
	// xclip and wl-copy leave a process that serves the text, and that holds whatever output it has been given.
	c.WaitDelay = time.Second
	c.SysProcAttr = apart()
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("%s: %w", t.argv[0], err)
	}
	return nil
}

// wide returns a text in UTF-16 with a byte order mark.
func wide(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}
