package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
)

// isYes reports whether an answer agrees.
func isYes(answer string) bool {
	a := strings.ToLower(strings.TrimSpace(answer))
	return a == "y" || a == "yes"
}

// readAnswer reads a line from the terminal; an interrupt ends that.
func readAnswer(ctx context.Context) (string, error) {
	in, err := openInput(os.Stdin)
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
