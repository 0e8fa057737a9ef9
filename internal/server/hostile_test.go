package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/state/statetest"
	"github.com/hone-dev/hone/internal/store"
)

// busy keeps the loop of a live server at work, and afterwards says how its batches did and checks that they went on.
func (f *live) busy() {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	before := f.Store.Loop()
	all.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				f.Store.Dispatch(statetest.Change("r0001", fmt.Sprintf("/src/r0001/%d", i%50)))
			}
		}
	})
	f.t.Cleanup(func() {
		cancel()
		all.Wait()
		l := f.Store.Loop()
		f.t.Logf("%d batches, slowest %s, average %s", l.Batches-before.Batches, l.Slowest, l.Busy/time.Duration(max(l.Batches, 1)))
		if l.Batches <= before.Batches {
			f.t.Error("the loop stood still")
		}
	})
}

// alive checks that the owner is served as ever, by both doors.
func (f *live) alive() {
	f.t.Helper()
	for _, d := range []string{"unix", "https"} {
		c, base := f.client(d)
		r, _ := http.NewRequest("GET", base+"/apis/hone.dev/v1alpha1/sessions/session", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		var resp *http.Response
		var err error
		for limit := time.Now().Add(20 * time.Second); ; { // a full house empties itself soon
			if resp, err = c.Do(r); err == nil || time.Now().After(limit) {
				break
			}
		}
		if err != nil {
			f.t.Fatalf("%s: %v", d, err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != 200 || !strings.Contains(string(body), "/src/Tiltfile") {
			f.t.Errorf("%s: %d %s", d, resp.StatusCode, body)
		}
	}
}

func hostile(t *testing.T) *live {
	f := serveLive(t)
	f.declare(20)
	f.Until("the session is there", func(v store.View) bool { return state.TheSession(v).Tiltfile != "" })
	f.busy()
	return f
}

// TestStrangers has requests that must not be served, whatever they ask for: none of them may see a word of the session.
func TestStrangers(t *testing.T) {
	f := hostile(t)
	good := map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json"}
	with := func(more ...string) map[string]string {
		h := map[string]string{}
		for k, v := range good {
			h[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
			if more[i+1] == "" {
				delete(h, more[i])
			}
		}
		return h
	}
	paths := []struct{ method, path string }{
		{"GET", "/api/view"}, {"GET", "/api/logs"}, {"GET", "/api/dump/engine"}, {"GET", "/api/dump/logstore"}, {"GET", "/api/snapshot"}, {"POST", "/api/trigger"}, {"POST", "/api/click"}, {"POST", "/api/stop"}, {"POST", "/api/attach"},
		{"GET", "/apis"}, {"GET", "/apis/hone.dev/v1alpha1/sessions"}, {"GET", "/apis/hone.dev/v1alpha1/sessions?watch=true"}, {"GET", "/openapi/v2"},
		{"GET", "/openapi/v3"}, {"GET", "/version"}, {"GET", "/"}, {"GET", "/readyz"}, {"OPTIONS", "/api/view"}, {"PUT", "/apis/hone.dev/v1alpha1/sessions/session"},
		{"HEAD", "/api/view"}, {"TRACE", "/api/view"}, {"PROPFIND", "/"},
	}
	for _, tc := range []struct {
		name, host string
		header     map[string]string
		codes      string
	}{
		{"no token", "", with("Authorization", ""), "401"},
		{"a wrong token", "", with("Authorization", "Bearer wrong"), "401"},
		{"a longer token", "", with("Authorization", "Bearer "+token+"x"), "401"},
		{"a shorter token", "", with("Authorization", "Bearer "+token[:5]), "401"},
		{"an empty token", "", with("Authorization", "Bearer "), "401"},
		{"another scheme", "", with("Authorization", "Basic "+token), "401"},
		{"a wrong cookie", "", with("Authorization", "", "Cookie", "hone-session-1="+token), "401"},
		{"DNS rebinding", "evil.example:10350", good, "403"},
		{"DNS rebinding to a name like ours", "localhost.evil.example", good, "403"},
		{"a foreign page", "", with("Origin", "https://evil.example"), "403"},
		{"a page on another port", "", with("Origin", "http://127.0.0.1:3000"), "403"},
		{"a page of a file", "", with("Origin", "null"), "403"},
		{"a page over another scheme", "", with("Origin", "https://"+f.tcp), "403"},
		{"a picture on a foreign page", "", with("Sec-Fetch-Site", "cross-site"), "403"},
		{"a picture on a page of this machine", "", with("Sec-Fetch-Site", "same-site"), "403"},
	} {
		c, base := f.client("http")
		for _, p := range paths {
			r, err := http.NewRequest(p.method, base+p.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if p.method == "POST" || p.method == "PUT" {
				r, _ = http.NewRequest(p.method, base+p.path, strings.NewReader("{}"))
			}
			for k, v := range tc.header {
				r.Header.Set(k, v)
			}
			if p.path == "/api/attach" {
				r.Header.Set("Connection", "Upgrade")
				r.Header.Set("Upgrade", Protocol)
			}
			if tc.host != "" {
				r.Host = tc.host
			}
			resp, err := c.Do(r)
			if err != nil {
				t.Fatalf("%s: %s %s: %v", tc.name, p.method, p.path, err)
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			refused := fmt.Sprint(resp.StatusCode) == tc.codes || p.method == "TRACE" && resp.StatusCode == 405
			if !refused || bytes.Contains(body, []byte("Tiltfile")) {
				t.Errorf("%s: %s %s: %d %s", tc.name, p.method, p.path, resp.StatusCode, body)
			}
			if h := resp.Header.Get("Access-Control-Allow-Origin"); h != "" {
				t.Errorf("%s: %s may be read by %s", tc.name, p.path, h)
			}
		}
	}
	select {
	case <-f.stopped:
		t.Error("a stranger has stopped the session")
	default:
	}
	f.alive()
}

// TestPathTricks has paths that mean one thing to one program and another to the next. They are written as they are: a
// client of Go's would clean them.
func TestPathTricks(t *testing.T) {
	f := hostile(t)
	long := "/" + strings.Repeat("a/", 100<<10)
	for _, path := range []string{"//api/view", "/api//view", "/x/../api/view", "/api/./view", "/api/%2e%2e/api/view", "/api%2fview", "/api/view%00", "/api\\view",
		"/..", "/api/view/..", "/%2e", "/apis/hone.dev/v1alpha1/sessions%2fsession", "/apis/hone.dev//v1alpha1/sessions", "/%252e%252e/api/view",
		"http://evil.example/api/view", "*", "api/view", "/apis/../api/view?x=1", "/API/VIEW", "/api/view/", long} {
		for _, secret := range []string{token, "wrong"} {
			code, body := f.raw("GET " + path + " HTTP/1.1\r\nHost: " + f.tcp + "\r\nAuthorization: Bearer " + secret + "\r\nConnection: close\r\n\r\n")
			if code != "" && code < "4" || strings.Contains(body, "/src/Tiltfile") {
				t.Errorf("%.60s: %s %.200s", path, code, body)
			}
		}
	}
	f.alive()
}

// raw sends bytes and returns the status code and everything that came back.
func (f *live) raw(request string) (code, answer string) {
	c, err := f.dial()
	if err != nil {
		f.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	go func() { _, _ = io.WriteString(c, request) }()
	b, _ := io.ReadAll(io.LimitReader(c, 1<<20))
	_, after, _ := strings.Cut(string(b), " ")
	code, _, _ = strings.Cut(after, " ")
	return code, string(b)
}

func TestMalformed(t *testing.T) {
	f := hostile(t)
	auth := "Authorization: Bearer " + token + "\r\n"
	for name, request := range map[string]string{
		"no HTTP":             "hello\r\n\r\n",
		"a header flood":      "GET /api/view HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-Filler: "+strings.Repeat("x", 1000)+"\r\n", 2000) + "\r\n",
		"many headers":        "GET /api/view HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("A: b\r\n", 100000) + "\r\n",
		"no host":             "GET /api/view HTTP/1.1\r\n" + auth + "\r\n",
		"two hosts":           "GET /api/view HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n" + auth + "\r\n",
		"smuggling":           "POST /api/trigger HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked, identity\r\n" + auth + "\r\n0\r\n\r\n",
		"a length below zero": "POST /api/trigger HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n" + auth + "\r\n",
		"reading with a body": "GET /api/view HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n" + auth + "\r\nabc",
		"a proxy":             "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n" + auth + "\r\n",
		"malformed JSON":      "POST /api/trigger HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1\r\n" + auth + "\r\n{",
		"JSON that is deep":   "POST /api/trigger HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n" + auth + "\r\n" + strings.Repeat("[", 200000),
		"HTTP/2":              "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"broken TLS":          "\x16\x03\x01\x00\x05hello",
		"a length that lies":  "POST /api/trigger HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n" + auth + "\r\n{}",
		"a write to a table":  "DELETE /apis/hone.dev/v1alpha1/sessions/session HTTP/1.1\r\nHost: localhost\r\n" + auth + "\r\n",
		"a patch of a table":  "PATCH /apis/hone.dev/v1alpha1/sessions/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/merge-patch+json\r\nContent-Length: 2\r\n" + auth + "\r\n{}",
		"an unknown method":   "HACK /api/view HTTP/1.1\r\nHost: localhost\r\n" + auth + "\r\n",
	} {
		request = strings.Replace(request, auth, auth+"Connection: close\r\n", 1)
		if code, body := f.raw(request); code != "" && code < "4" || strings.Contains(body, "/src/Tiltfile") {
			t.Errorf("%s: %s %.300s", name, code, body)
		}
	}
	f.alive()
}

// TestEndlessBodies sends bodies of 1 GB, with a length and without, to everything that takes one.
func TestEndlessBodies(t *testing.T) {
	f := hostile(t)
	for _, path := range []string{"/api/trigger", "/api/click", "/api/stop", "/apis/hone.dev/v1alpha1/sessions", "/nowhere"} {
		for _, chunked := range []bool{false, true} {
			c, base := f.client("http")
			sent := &counted{r: io.LimitReader(zeros{}, 1<<30)}
			r, _ := http.NewRequest("POST", base+path, sent)
			if !chunked {
				r.ContentLength = 1 << 30
			}
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			resp, err := c.Do(r)
			if err == nil {
				if resp.StatusCode < 400 {
					t.Errorf("%s: %d", path, resp.StatusCode)
				}
				_ = resp.Body.Close()
			}
			if n := sent.n.Load(); n > 64<<20 {
				t.Errorf("%s: %d bytes were taken", path, n)
			}
		}
	}
	f.alive()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

type counted struct {
	r io.Reader
	n atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// TestSlowLoris has clients that send a byte now and then. They are gone when the time for headers is over.
func TestSlowLoris(t *testing.T) {
	f := hostile(t)
	var all sync.WaitGroup
	for range 50 {
		c, err := f.dial()
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer c.Close()
			end := time.Now().Add(time.Minute)
			for i := 0; time.Now().Before(end); i++ {
				if _, err := c.Write([]byte("GET /api/view HTTP/1.1\r\nX: y"[i%20 : i%20+1])); err != nil {
					return
				}
				_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
				if _, err := io.ReadAll(c); err == nil {
					return // closed by the server
				}
			}
			t.Error("a slow client was kept for a minute")
		})
	}
	f.alive()
	all.Wait()
}

// TestWatchersThatNeverRead fills the buffers of many watches and log followers and goes away for good after that.
func TestWatchersThatNeverRead(t *testing.T) {
	f := hostile(t)
	var conns []net.Conn
	for i := range 100 {
		c, err := f.dial()
		if err != nil {
			t.Fatal(err)
		}
		path := []string{"/apis/hone.dev/v1alpha1/updates?watch=true", "/apis/hone.dev/v1alpha1/resources?watch=true", "/api/logs?follow=true"}[i%3]
		if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+token+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	l := f.logs.Logger("r0001", "span", "build")
	for range 20000 {
		l.Write(1, "a line that nobody reads, again and again and again\n")
	}
	before := f.Store.Loop().Batches
	wake, stop := f.Store.Watch()
	defer stop()
	for i := range 500 { // one by one, so that the length of a batch is not ours
		at := f.Store.Dispatch(statetest.Loaded(statetest.K8s(fmt.Sprintf("r%d", i%7)), statetest.K8s("r0001")))
		for f.Store.Snapshot().At.Before(at) {
			<-wake
		}
	}
	f.Until("the loop goes on", func(store.View) bool { return f.Store.Loop().Batches > before })
	f.alive()
	for _, c := range conns {
		_ = c.Close()
	}
}
