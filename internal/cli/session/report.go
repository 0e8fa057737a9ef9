package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/hud/text"
)

// outcome is the result of a report in one word, with the exit code of the command that prints it.
type outcome struct {
	result   string
	exitCode int
}

// conclude prints a report: as a document for programs if write is not nil, else by the function page. It returns an error with the exit code of
// the outcome, which needs no further words.
func conclude(w io.Writer, rep any, write func(io.Writer, any) error, page func(io.Writer) error, is outcome) error {
	var err error
	if write != nil {
		err = write(w, rep)
	} else {
		err = page(w)
	}
	if err == nil && is.exitCode != 0 {
		err = command.AlreadyPrinted(errors.New(is.result), is.exitCode)
	}
	return err
}

// near returns the path of a file as a person in the working folder writes it: relative if the file lies below the folder.
func near(file string) string {
	here, err := os.Getwd()
	if err != nil {
		return text.Clean(file)
	}
	if rel, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(rel) {
		file = rel
	}
	return text.Clean(file)
}

// sayAwaited prints in one line the things that a command waits for: a text about all resources, unless empty, and texts about single ones.
func sayAwaited(w io.Writer, all string, each []string) {
	if all != "" {
		each = append([]string{all}, each...)
	}
	_, _ = fmt.Fprintf(w, "Waiting: %s\n", strings.Join(each, "; "))
}
