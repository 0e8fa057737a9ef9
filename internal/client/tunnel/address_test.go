package tunnel

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// TestParseAddress reads addresses as users write them, for ssh and for messages.
func TestParseAddress(t *testing.T) {
	for in, want := range map[string]struct {
		Address
		box, command, fails string
	}{
		"ssh://box":                {Address{Host: "box"}, "box", "ssh -o BatchMode=yes -T -- box hone relay", ""},
		"ssh://box/":               {Address{Host: "box"}, "box", "ssh -o BatchMode=yes -T -- box hone relay", ""},
		"ssh://box/shop":           {Address{Host: "box", Session: "shop"}, "box", "ssh -o BatchMode=yes -T -- box hone relay", ""},
		"ssh://dev@box.lan:2222/a": {Address{"dev", "box.lan", "2222", "a"}, "dev@box.lan:2222", "ssh -o BatchMode=yes -T -l dev -p 2222 -- box.lan hone relay", ""},
		"ssh://[::1]:22":           {Address{Host: "::1", Port: "22"}, "[::1]:22", "ssh -o BatchMode=yes -T -p 22 -- ::1 hone relay", ""},
		"ssh://my_box":             {Address{Host: "my_box"}, "my_box", "ssh -o BatchMode=yes -T -- my_box hone relay", ""},
		"box":                      {fails: "does not begin with ssh://"},
		"http://box":               {fails: "does not begin with ssh://"},
		"ssh://":                   {fails: "names no machine"},
		"ssh:///shop":              {fails: "names no machine"},
		"ssh://dev:secret@box":     {fails: "has a password"},
		"ssh://box/a/b":            {fails: `no session can be called "a/b"`},
		"ssh://box/Shop":           {fails: `no session can be called "Shop"`},
		"ssh://box/?a=b":           {fails: "nothing follows the session"},
		"ssh://-oProxyCommand=x/a": {fails: "take it for a flag"},
		"ssh://-oX@box/a":          {fails: "take it for a flag"},
		"ssh://box:port":           {fails: "not an address"},
	} {
		a, err := ParseAddress(in)
		if want.fails != "" {
			if err == nil || !strings.Contains(problem.Text(err), want.fails) || strings.Contains(problem.Text(err), "secret") {
				t.Errorf("%s: %v, want %q", in, err, want.fails)
			}
			continue
		}
		if err != nil || a != want.Address {
			t.Errorf("%s: %+v, %v", in, a, err)
		}
		if diff := cmp.Diff([]string{want.box, want.command}, []string{a.Box(), strings.Join(a.Command([]string{"-T"}, "hone", "relay"), " ")}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}

// TestChoose: an address means the session that it names, or the only one. The others are offered as addresses to paste.
func TestChoose(t *testing.T) {
	shop, docs := sessions.Info{Name: "shop", Command: "up", Tiltfile: "/src/shop/Tiltfile", Socket: "s"}, sessions.Info{Name: "docs", Command: "ci", Tiltfile: "/src/docs/Tiltfile", Socket: "d"}
	for name, tt := range map[string]struct {
		named string
		all   []sessions.Info
		want  string
		says  []string
	}{
		"the only one":   {"", []sessions.Info{shop}, "shop", nil},
		"by name":        {"docs", []sessions.Info{docs, shop}, "docs", nil},
		"none":           {"", nil, "", []string{"no session of this user runs on dev@box", "hone up --detach"}},
		"several":        {"", []sessions.Info{docs, shop}, "", []string{"several sessions", "hone attach ssh://dev@box/docs  (ci /src/docs/Tiltfile)", "hone attach ssh://dev@box/shop"}},
		"another name":   {"web", []sessions.Info{shop}, "", []string{`no session on dev@box is called "web"`, "hone attach ssh://dev@box/shop"}},
		"still starting": {"", []sessions.Info{{Name: "shop"}}, "", []string{"still starting"}},
	} {
		a := Address{User: "dev", Host: "box", Session: tt.named}
		got, err := a.Choose(tt.all)
		if (err == nil) != (tt.want != "") || err == nil && got.Name != tt.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		for _, s := range tt.says {
			if !strings.Contains(problem.Text(err), s) {
				t.Errorf("%s: %q does not say %q", name, problem.Text(err), s)
			}
		}
	}
}
