package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// isYes reports whether an answer means yes.
func isYes(answer string) bool {
	a := strings.ToLower(strings.TrimSpace(answer))
	return a == "y" || a == "yes"
}

// Confirm asks a question on out, to be answered with y or n in the terminal, and reports whether the answer is yes.
func Confirm(ctx context.Context, out io.Writer, question string) (bool, error) {
	fmt.Fprintf(out, "%s (y/N) ", question)
	answer, err := readAnswer(ctx)
	return err == nil && isYes(answer), err
}

// readAnswer reads a line from the terminal. When ctx is cancelled it returns the error of ctx.
func readAnswer(ctx context.Context) (string, error) {
	in, err := OpenInput(os.Stdin)
	if err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { _ = in.Close() })()
	line, err := bufio.NewReader(in).ReadString('\n')
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return line, nil
}

// Choose asks on out which of several options is taken, and returns its number. An empty answer takes the first one; an answer that is
// no option is asked again.
func Choose(ctx context.Context, out io.Writer, question string, options []string) (int, error) {
	fmt.Fprintln(out, question)
	for i, o := range options {
		fmt.Fprintf(out, "  %d  %s\n", i+1, o)
	}
	for {
		fmt.Fprintf(out, "1–%d, Enter for 1: ", len(options))
		answer, err := readAnswer(ctx)
		if err != nil {
			return 0, err
		}
		if answer = strings.TrimSpace(answer); answer == "" {
			return 0, nil
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(options) {
			return n - 1, nil
		}
	}
}
