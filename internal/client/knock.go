package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
)

// slowAfter is the time that a session may take to answer before OnSlow is called.
const slowAfter = 2 * time.Second

// knock waits for any answer before the first request. The kernel accepts requests for a process that is stopped, which would carry
// them out when it continues, long after the caller has given up. Therefore a session gets a request only once it has shown that it
// answers.
func (c *Client) knock(ctx context.Context) error {
	c.knocking.Lock()
	defer c.knocking.Unlock()
	switch pid := c.Session.PID; {
	case c.answered:
		return nil
	case !c.far && stands(ctx, pid):
		if ctx.Err() == context.Canceled {
			return ctx.Err()
		}
		return problem.New(c.Where()+" is stopped",
			fmt.Sprintf("let it continue: kill -CONT %d; or end it: kill -9 %d; the next hone cleans up after it", pid, pid))
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if c.OnSlow != nil {
		slow := time.AfterFunc(slowAfter, c.OnSlow)
		defer slow.Stop()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, c.base().String()+"/", nil)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.silent(ctx, err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	c.answered = true
	return nil
}

// stands reports whether a process is stopped, and stays so. A session that gives its terminal back to a shell is stopped until the
// shell has taken it, which takes milliseconds.
func stands(ctx context.Context, pid int) bool {
	for until := time.Now().Add(slowAfter / 2); stopped(pid); retry.Sleep(ctx, slowAfter/100) {
		if ctx.Err() != nil || time.Now().After(until) {
			return true
		}
	}
	return false
}

// stopped reports whether a process is stopped by a signal, where the system tells.
func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	return strings.HasPrefix(after, "T")
}
