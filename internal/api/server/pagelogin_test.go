package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// TestDoor gets a ticket as hone open does, lets a browser in with it, and reads the page.
func TestDoor(t *testing.T) {
	f := serveLive(t)
	f.Dispatch(statetest.Session, statetest.Loaded(statetest.K8s("web")))
	f.Until("the Tiltfile is evaluated", func(v store.View) bool { return state.TheTiltfile(v).Good })
	c, base := f.client("http")
	get := func(address string, cookies []*http.Cookie) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		for _, k := range cookies {
			r.AddCookie(k)
		}
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(body)
	}
	if resp, body := get(base+"/", nil); resp.StatusCode != 401 || !strings.Contains(body, "hone open") || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		t.Errorf("without a ticket: %d %s", resp.StatusCode, body)
	}
	if code, body := f.ask("unix", "POST", "/api/ticket", `{"resource":"wbe"}`); code != 404 || !strings.Contains(body, "did you mean web?") {
		t.Errorf("an unknown resource: %d %s", code, body)
	}
	code, body := f.ask("unix", "POST", "/api/ticket", `{"resource":"web"}`)
	var ticket api.Ticket
	if err := json.Unmarshal([]byte(body), &ticket); err != nil || code != 200 || !strings.HasPrefix(ticket.URL, "http://"+f.tcp+"/?ticket=") {
		t.Fatalf("%d %s", code, body)
	}
	resp, _ := get(ticket.URL, nil)
	cookies := resp.Cookies()
	if resp.StatusCode != 303 || resp.Header.Get("Location") != "/#/r/web" || len(cookies) != 1 {
		t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	if resp, _ = get(ticket.URL, nil); resp.StatusCode != 401 {
		t.Errorf("the second time: %d", resp.StatusCode)
	}
	if resp, _ = get(ticket.URL, cookies); resp.StatusCode != 303 || resp.Header.Get("Location") != "/" {
		t.Errorf("the second time, by the same browser: %d %v", resp.StatusCode, resp.Header)
	}
	for path, want := range map[string]string{"/": "<p>the page", "/page.js": "the script"} {
		if resp, body = get(base+path, cookies); resp.StatusCode != 200 || body != want {
			t.Errorf("%s: %d %q", path, resp.StatusCode, body)
		}
		if resp, _ = get(base+path, nil); resp.StatusCode != 401 {
			t.Errorf("%s without the cookie: %d", path, resp.StatusCode)
		}
	}
	r, _ := http.NewRequest(http.MethodPost, base+"/api/ticket", strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	r.AddCookie(cookies[0])
	made, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = made.Body.Close()
	if made.StatusCode != 403 {
		t.Errorf("a page makes a ticket: %d", made.StatusCode)
	}
}

func TestDoorWithoutPort(t *testing.T) {
	d := NewPageLogin(nil)
	if _, err := d.Ticket(""); err == nil || d.Address() != "" {
		t.Errorf("%q, %v", d.Address(), err)
	}
}
