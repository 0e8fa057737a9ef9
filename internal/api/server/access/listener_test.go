package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"
)

// TestFull fills a listener with silent connections. Clients with the token get in nevertheless, and connections in use stay.
// When all places are taken by connections in use, no other client gets in.
func TestFull(t *testing.T) {
	const places = 4
	raw, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := Server(Guard(Rules{Token: "key", Refuse: func(w http.ResponseWriter, _ *http.Request, code int, text string) { http.Error(w, text, code) }},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })))
	served := make(chan error, 1)
	go func() { served <- srv.Serve(Listen(raw, nil, places)) }()
	t.Cleanup(func() {
		_ = srv.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	addr := raw.Addr().String()
	visit := func(c *http.Client) (reused bool, err error) {
		ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/", nil)
		if err != nil {
			return false, err
		}
		r.Header.Set("Authorization", "Bearer key")
		resp, err := c.Do(r)
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "hello" {
			return reused, fmt.Errorf("%s %q: %w", resp.Status, text, err)
		}
		return reused, nil
	}
	client := func() *http.Client {
		tr := &http.Transport{}
		t.Cleanup(tr.CloseIdleConnections)
		return &http.Client{Transport: tr}
	}
	first := client()
	if _, err := visit(first); err != nil {
		t.Fatal(err)
	}
	var idle []net.Conn
	for range 10 * places {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		idle = append(idle, c)
	}
	for _, c := range idle[:len(idle)-places] {
		if n, err := c.Read(make([]byte, 1)); err == nil || n > 0 {
			t.Error("the listener answered a silent connection")
		}
	}
	if reused, err := visit(first); err != nil || !reused {
		t.Errorf("who was in is out: %v", err)
	}
	for i := range places - 1 {
		if _, err := visit(client()); err != nil {
			t.Errorf("with the token, %d: %v", i+2, err)
		}
	}
	if _, err := visit(client()); err == nil {
		t.Errorf("more than %d came in", places)
	}
	if reused, err := visit(first); err != nil || !reused {
		t.Errorf("who was in is out: %v", err)
	}
}
