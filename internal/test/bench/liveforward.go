//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// forwards measures the time that bytes take through a port forward: the bytes of a response, and the bytes of a request.
func (l *live) forwards(ctx context.Context, bytes, n int) (down, up times, err error) {
	url := fmt.Sprintf("http://localhost:%d/bytes?n=%d", l.forwarded, bytes)
	// The connection is opened before the measurement.
	if _, err := transfer(ctx, http.MethodGet, strings.TrimRight(url, "0123456789")+"1", nil); err != nil {
		return nil, nil, err
	}
	for range n {
		began := time.Now()
		got, err := transfer(ctx, http.MethodGet, url, nil)
		if err == nil && len(got) != bytes {
			err = fmt.Errorf("%d of %d bytes arrived", len(got), bytes)
		}
		if err != nil {
			return nil, nil, err
		}
		down = append(down, time.Since(began))
		began = time.Now()
		got, err = transfer(ctx, http.MethodPost, url, io.LimitReader(rand.NewChaCha8([32]byte{}), int64(bytes)))
		if err == nil && string(got) != fmt.Sprint(bytes) {
			err = fmt.Errorf("%q of %d bytes arrived", got, bytes)
		}
		if err != nil {
			return nil, nil, err
		}
		up = append(up, time.Since(began))
	}
	return down, up, nil
}

func transfer(ctx context.Context, method, url string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}
