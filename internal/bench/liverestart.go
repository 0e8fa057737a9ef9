//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// knock is the pause between two requests to a program that is expected to start anew.
const knock = 300 * time.Microsecond

// restarts saves the file that a program reads at its start, and asks the program, over the pod network, until one answers
// that has read it. Bytes is how long the file itself took.
func (l *live) restarts(ctx context.Context, c *container, n int, pause time.Duration) (served, bytesThere times, lost int, err error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	for i := range n {
		if err := sleep(ctx, pause); err != nil {
			return nil, nil, 0, err
		}
		f := file{"server/app/text", "app/text", l.text(1024)}
		a := expect([]file{f}, 1)
		l.watch(a.saw)
		if err := l.save(i, f); err != nil {
			return nil, nil, 0, err
		}
		saved := time.Now()
		if err := answers(ctx, client, fmt.Sprintf("http://%s:8080/", c.ip), f.content); err != nil {
			if ctx.Err() != nil {
				return nil, nil, 0, err
			}
			lost++
			if lost > 2 {
				break
			}
			continue
		}
		served = append(served, time.Since(saved))
		select {
		case <-a.done:
		case <-time.After(time.Second): // it has been read, so it is there, and only its notice was lost
			continue
		}
		bytesThere = append(bytesThere, max(0, a.at[0].Sub(saved)))
	}
	return served, bytesThere, lost, nil
}

// answers asks until the answer is the given one.
func answers(ctx context.Context, client *http.Client, url string, want []byte) error {
	for end := time.Now().Add(arrivalLimit); time.Now().Before(end); {
		if got, err := get(ctx, client, url); err == nil && bytes.Equal(got, want) {
			return nil
		}
		if err := sleep(ctx, knock); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s did not answer with what was saved", url)
}

func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}
