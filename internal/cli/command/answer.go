package command

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
)

// IsYes reports whether an answer means yes.
func IsYes(answer string) bool {
	a := strings.ToLower(strings.TrimSpace(answer))
	return a == "y" || a == "yes"
}

// ReadAnswer reads a line from the terminal. When ctx is cancelled it returns the error of ctx.
func ReadAnswer(ctx context.Context) (string, error) {
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
