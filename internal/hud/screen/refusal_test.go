package screen

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
)

// situations are the states in which every verb is tried, with the keys that lead there.
var situations = []struct {
	name, keys string
	in         place
}{
	{"the Tiltfile is selected", "", inTable},
	{"a group is selected", "j", inTable},
	{"a deployed service", "/api<Enter>", inTable},
	{"a server of this machine", "/docs<Enter>", inTable},
	{"a command without a server", "/e2e<Enter>", inTable},
	{"a disabled resource", "/loadtest<Enter>", inTable},
	{"objects without pods", "/uncategorized<Enter>", inTable},
	{"never deployed", "/seed<Enter>", inTable},
	{"nothing matches", "/zzz<Enter>", inTable},
	{"marked resources", "jj  ", inTable},
	{"another order", ">", inTable},
	{"the table is zoomed", "z", inTable},
	{"a line of the log", "<Tab>k", inLog},
	{"a log without lines", "<Tab>/zzzzz<Enter>", inLog},
	{"details", "/api<Enter><Enter>", inDetails},
	{"an error card", "e", inCard},
	{"why", "/api<Enter>w", inWhy},
	{"pending changes", "P", inPending},
	{"revisions", "B", inRevisions},
	{"help", "?", inText},
}

// same are verbs that may change nothing without being refused: the requested state exists already, or they are at an edge.
var same = map[string]bool{"up": true, "down": true, "page-up": true, "page-down": true, "first": true, "last": true, "left": true, "right": true,
	"log-all": true, "log-build": true, "log-runtime": true, "follow": true, "tab-1": true, "redraw": true, "all": true, "quit": true, "back": true}

// cells is all that a terminal shows, with styles.
func (d *driver) cells() []cell {
	cells, _, _ := d.term.GetContents()
	defer d.term.GetContents()
	out := make([]cell, len(cells))
	for i, c := range cells {
		out[i] = cell{string(c.Bytes), c.Style}
	}
	return out
}

type cell struct {
	text  string
	style tcell.Style
}

// TestNoKeyIsSilent: whatever key is pressed, wherever the user is, either the session gets a request, or the screen changes: it
// shows the requested thing, or says why that is impossible.
func TestNoKeyIsSilent(t *testing.T) {
	t.Chdir(t.TempDir())
	v := shop(t)
	for n, s := range situations {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // some hundred screens each, with -short a third of them
			var silent []string
			tried := map[key]bool{}
			u := &ui{verbs: verbs(Options{Ask: nothing})}
			for i, v1 := range u.verbs {
				k := v1.keys[0]
				if testing.Short() && (i+n)%3 != 0 {
					continue
				}
				if does := u.matching(k, s.in); tried[k] || does != nil && same[does.name] {
					continue
				}
				tried[k] = true
				playAt(t, newTerminal("UTF-8", 120, 34), v, func(t *testing.T, d *driver) {
					d.press(s.keys)
					before, asked, opened := d.cells(), len(d.asked), len(d.opened)
					d.pressKey(k)
					if slices.Equal(d.cells(), before) && len(d.asked) == asked && len(d.opened) == opened {
						if d.after(2 * frameTime); d.copied() != "" {
							return // copying reads away from the drawing
						}
						silent = append(silent, fmt.Sprintf("%s does nothing and says nothing:\n%s", k, d.text()))
					}
				})
			}
			for _, s := range silent {
				t.Error(s)
			}
		})
	}
}

// pressKey presses a key of a verb.
func (d *driver) pressKey(k key) {
	if k.letter != 0 {
		d.press(string(k.letter))
		return
	}
	d.press("<" + tcell.KeyNames[k.named] + ">")
}

// TestRefusals checks the message of a verb that cannot be done. Verbs of the palette that cannot be done have the same message.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct{ name, keys, says string }{
		{"details of nothing", "/zzz<Enter><Enter>", "no resource matches zzz; Esc shows all of them"},
		{"trigger nothing", "/zzz<Enter>t", "no resource matches zzz; Esc shows all of them"},
		{"trigger a disabled resource", "/loadtest<Enter>t", `resource "loadtest" is disabled; enable it first: hone enable loadtest`},
		{"rebuild a disabled resource", "/loadtest<Enter>T", `resource "loadtest" is disabled; enable it first`},
		{"restart what has no process", "/e2e<Enter>r", `resource "e2e" has no serve_cmd, so nothing of it keeps running`},
		{"restart what is not supervised", "/api<Enter>r", "has no process that can be restarted in place"},
		{"restart what was never deployed", "/seed<Enter>r", `resource "seed" has not been deployed yet; deploy it: hone trigger seed`},
		{"restart the Tiltfile", "r", "the Tiltfile runs nothing that could be restarted"},
		{"restart pods of objects without pods", "/uncategorized<Enter>R", "has no pod that could be replaced"},
		{"trigger mode of the Tiltfile", "m", "the Tiltfile has no trigger mode: it is evaluated whenever one of its files changes"},
		{"disable the Tiltfile", "d", "(Tiltfile) cannot be enabled or disabled"},
		{"adopt with a local resource", "/docs<Enter>Y", "docs declares no objects in a cluster"},
		{"forward of a group", "jp", "a group is selected; choose one of its resources"},
		{"forward of the Tiltfile", "p", `no resource is called "(Tiltfile)"`},
		{"forward of objects without pods", "/uncategorized<Enter>p", `resource "uncategorized" has no pods that a port could be forwarded to`},
		{"forward of a local resource", "/docs<Enter>p", "runs on this machine, so that its ports need no forward"},
		{"forward of a disabled resource", "/loadtest<Enter>p", `resource "loadtest" is disabled`},
		{"shell of a group", "jS", "a group is selected; choose one of its resources"},
		{"shell where no container runs", "/seed<Enter>S", "seed"},
		{"shell of a disabled resource", "/loadtest<Enter>S", `resource "loadtest" is disabled`},
		{"endpoint of a resource without one", "/mailer<Enter>b", "mailer has no endpoint; port forwards (p) and links of the Tiltfile are endpoints"},
		{"why of a group", "jw", "a group is selected"},
		{"mark the Tiltfile", " ", "the Tiltfile is not marked together with resources"},
		{"mark what is not shown", "/zzz<Enter>*", "no resource matches zzz"},
		{"fold without groups", "><Left>", "in this order there are no groups; > changes the order"},
		{"fold a folded group", "j<Left><Left>", "the group is folded already"},
		{"unfold a resource", "jj<Right>", "api hides nothing; Enter shows its details"},
		{"copy from a filtered log", "<Tab>/zzzzz<Enter>c", "no line of this log passes the filter; Esc clears it"},
		{"save a filtered log", "<Tab>/zzzzz<Enter>s", "no line of this log passes the filter; Esc clears it"},
		{"pager of a log without lines", "/seed<Enter>a|", "this log has no lines"},
		{"next match of no search", "n", "no search text; f asks for one"},
		{"next mark", "<Tab>'", "no line is marked; Space marks one"},
		{"sideways in wrapped lines", "<Tab><Right>", "long lines are wrapped; W cuts them"},
		{"resize a zoomed pane", "z+", "only one pane is shown; z shows both"},
		{"snapshot", "<Ctrl-S>", "a snapshot cannot be made here"},
		{"notices", "!", "there are no notices"},
		{"a key of the log in the table", "c", "c: copy works in the log (Tab)"},
		{"a key of the table in details", "/api<Enter><Enter>>", ">: sort works in the table (Esc)"},
		{"a key without a command", "#", "no command has the key #; ? lists all keys"},
		{"by name", ":notices<Enter>", "notices: there are no notices"},
		{"by name, elsewhere", ":card-log<Enter>", "card-log: works on an error card (e)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play(t, func(t *testing.T, d *driver) {
				d.press(tt.keys)
				if got := strings.Join(strings.Fields(d.text()), " "); !strings.Contains(got, tt.says) {
					t.Errorf("%q is not said:\n%s", tt.says, d.text())
				}
				if len(d.asked) > 0 {
					t.Errorf("asked %v", d.asked)
				}
			})
		})
	}
}

// TestDisabledResourcesAreRefusedTogether: if all marked resources are disabled, the refusal says that.
func TestDisabledResourcesAreRefusedTogether(t *testing.T) {
	scene := hudtest.Shop()
	scene.At(41*time.Minute, state.ResourcesSwitched{Off: listOf("api web")})
	v := scene.View(t.Context())
	playAt(t, newTerminal("UTF-8", 120, 34), v, func(_ *testing.T, d *driver) {
		d.press("jj<Down><Down><Down> ")
		d.press("/api<Enter> <Esc>t")
		d.shows(`resource "api" is disabled; enable it first`)
		if len(d.asked) > 0 {
			d.t.Errorf("asked %v", d.asked)
		}
	})
}

// TestScreensThatOnlyShow: keys that act say why they do not.
func TestScreensThatOnlyShow(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*driver, *Options)
		says   string
	}{
		{"read-only", func(_ *driver, o *Options) { o.ReadOnly, o.Ask, o.Leave = true, nil, "shop" }, "is not possible: this screen is read-only; attach without --read-only"},
		{"past", func(_ *driver, o *Options) { o.Past, o.Ask = true, nil }, "is not possible: the session is over"},
	} {
		for _, v := range requests {
			t.Run(tt.name+" "+v.name, func(t *testing.T) {
				play(t, func(_ *testing.T, d *driver) {
					d.press("/api<Enter>")
					d.pressKey(v.keys[0])
					d.shows(v.name + " " + tt.says)
				}, tt.change)
			})
		}
	}
}

// TestSmallTerminalsRefuse: verbs that need two panes are refused where only one fits.
func TestSmallTerminalsRefuse(t *testing.T) {
	for _, tt := range []struct {
		width, height int
		keys, says    string
	}{
		{80, 18, "x", "this terminal has room for one pane only; Tab goes to the other one"},
		{80, 18, "z", "room for one pane only"},
		{80, 18, "+", "room for one pane only"},
		{120, 34, "x", ""},
	} {
		playAt(t, newTerminal("UTF-8", tt.width, tt.height), shop(t), func(_ *testing.T, d *driver) {
			d.press(tt.keys)
			d.shows(tt.says)
		})
	}
}

// TestAsksCanBeRefused: what a verb asks for each resource is a verb, and may be refused.
func TestAsksCanBeRefused(t *testing.T) {
	all := verbs(Options{Ask: nothing})
	for name := range asks {
		if !slices.ContainsFunc(all, func(v verb) bool { return v.name == name && v.cannot != nil }) {
			t.Errorf("%s asks each resource, but is no verb, or is never refused", name)
		}
	}
}

// TestPaletteListsAllVerbs: the palette has every verb with its key, wherever the user is.
func TestPaletteListsAllVerbs(t *testing.T) {
	logs, err := logstore.New(logstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lists := loglist.NewLister(t.Context(), logs, time.Now)
	v := shop(t)
	for _, tt := range []struct {
		name string
		open func(u *ui)
	}{
		{"main", func(*ui) {}},
		{"details", func(u *ui) { u.openDetails("api") }},
		{"card", func(u *ui) { u.nextError(1) }},
		{"help", (*ui).openHelp},
	} {
		ended := make(chan struct{})
		u := newUI(Options{Logs: logs, Now: time.Now, Ask: func(w Request) (func(context.Context) error, error) { _, err := w(v); return nil, err }}, theme{}, lists)
		ctx, cancel := context.WithCancel(t.Context())
		u.done, u.jobs = ended, newJobs(ctx)
		u.apply(FrameOf(v, hudtest.ShopTime, 0, view.Ignores{}), hudtest.ShopTime)
		tt.open(u)
		u.palette()
		got, want := map[string]string{}, map[string]string{}
		for _, c := range u.top().(*picker).choices {
			got[c.text] = c.key
		}
		for _, v := range u.verbs {
			want[v.name] = v.label()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		cancel()
		u.jobs.work.Wait()
	}
	lists.Close()
	if err := logs.Close(); err != nil {
		t.Error(err)
	}
}
