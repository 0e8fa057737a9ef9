package screen

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kballard/go-shellquote"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Wish turns something that the user asks of the session into an action: with nothing to do the action is nil. The error is
// why the session refuses it.
type Wish func(v store.View) (store.Action, error)

// wish asks something of the session, and says done once the session has accepted it.
func (u *ui) wish(done string, w Wish) {
	u.after(done, u.options.Ask(w))
}

// changing is the answer to a wish that may change nothing.
func changing[A store.Action](a A, changed bool, err error) (store.Action, error) {
	if err != nil || !changed {
		return nil, err
	}
	return a, nil
}

// after says how a request went.
func (u *ui) after(done string, err error) {
	if err != nil {
		u.tell(err)
		return
	}
	u.say(done)
}

// targets returns the resources that a key acts on: those that are marked, if the key is pressed in the table; else those of
// the selected group; else the one that the view on top shows, or the selected one. It says so if there is none.
func (u *ui) targets() []model.ManifestName {
	var names []model.ManifestName
	switch l := u.table.current(); {
	case u.top() != u.main:
		if r := u.target(); r != nil {
			names = append(names, r.Name)
		}
	case len(u.table.marked) > 0:
		names = u.table.markedRows()
	case l == nil:
	case l.row == nil:
		names = u.table.members(l.group)
	default:
		names = append(names, l.row.Name)
	}
	if len(names) == 0 {
		u.say("no resource is selected")
	}
	return names
}

// enabledOf returns the names that are not those of disabled resources; a single one stays, for the refusal.
func (u *ui) enabledOf(names []model.ManifestName) []model.ManifestName {
	if len(names) < 2 {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(n model.ManifestName) bool {
		c, ok := u.frame.Controls(n)
		return ok && c.Disabled
	})
}

// listed names resources in a message.
func listed(names []model.ManifestName) string { return words.List(texts(names), "resource") }

func texts(names []model.ManifestName) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}

func (u *ui) trigger() {
	if names := u.enabledOf(u.targets()); len(names) > 0 {
		u.wish(listed(names)+" will be updated", func(v store.View) (store.Action, error) { return intent.Trigger(v, texts(names)) })
	}
}

// toggleEnabled enables the targets if all of them are disabled, and else disables those that are enabled. It asks first
// if something would be deleted or stopped.
func (u *ui) toggleEnabled() {
	names := u.targets()
	var on, deployed []model.ManifestName
	for _, n := range names {
		c, ok := u.frame.Controls(n)
		if ok && !c.Disabled {
			on = append(on, n)
		}
		if c.Deployed {
			deployed = append(deployed, n)
		}
	}
	turn := func(to bool, names []model.ManifestName) {
		u.wish(listed(names)+map[bool]string{true: " will be enabled", false: " will be disabled"}[to], func(v store.View) (store.Action, error) {
			return changing(intent.Turn(v, to, texts(names)))
		})
	}
	switch {
	case len(names) == 0:
	case len(on) == 0:
		turn(true, names)
	case len(deployed) == 0:
		turn(false, on)
	default:
		u.confirm(fmt.Sprintf("disable %s? What runs of it is stopped and deleted", listed(on)), func() { turn(false, on) })
	}
}

// toggleMode updates the targets only on request if one of them is updated on its own, and else on their own.
func (u *ui) toggleMode() {
	names := u.targets()
	mode := model.TriggerAuto
	for _, n := range names {
		if c, ok := u.frame.Controls(n); ok && c.Mode == model.TriggerAuto {
			mode = model.TriggerManual
		}
	}
	if len(names) == 0 {
		return
	}
	said := map[model.TriggerMode]string{
		model.TriggerAuto:   listed(names) + ": updated when files change",
		model.TriggerManual: listed(names) + ": updated on request only (t)",
	}[mode]
	u.wish(said, func(v store.View) (store.Action, error) { return intent.SetTriggerMode(v, texts(names), mode) })
}

// askArguments asks for other arguments of the Tiltfile.
func (u *ui) askArguments() {
	now := shellquote.Join(u.frame.Session().Args...)
	u.ask("arguments of the Tiltfile: ", now, func(s string) error {
		_, err := shellquote.Split(s)
		return err
	}, func(s string, ok bool) {
		args, err := shellquote.Split(s)
		switch {
		case !ok:
		case err != nil:
			u.say("the arguments stay as they are: " + err.Error())
		default:
			u.wish("the Tiltfile will be evaluated with these arguments", func(v store.View) (store.Action, error) {
				return changing(intent.SetArguments(v, args))
			})
		}
	})
}

// chooseButton shows the buttons of the resource and of the session.
func (u *ui) chooseButton() {
	var choices []choice
	add := func(of string, buttons []model.Button) {
		for _, b := range buttons {
			c := choice{text: cmp.Or(b.Text, b.Name), note: of, do: func() { u.click(b) }}
			if b.Disabled {
				c.off = "disabled"
			}
			choices = append(choices, c)
		}
	}
	if r := u.target(); r != nil {
		c, _ := u.frame.Controls(r.Name)
		add(string(r.Name), c.Buttons)
	}
	add("the session", u.frame.Session().Buttons)
	if len(choices) == 0 {
		u.say("the Tiltfile declares no buttons here: load('ext://uibutton', 'cmd_button')")
		return
	}
	u.choose("buttons", choices)
}

// click clicks a button, after the user has filled in its inputs.
func (u *ui) click(b model.Button) {
	send := func(inputs map[string]any) error {
		return u.options.Ask(func(v store.View) (store.Action, error) { return intent.Click(v, b.Name, inputs) })
	}
	title := cmp.Or(b.Text, b.Name)
	done := "clicked " + title
	if b.Log != "" {
		done += ": its output is in the log of " + string(b.Log)
	}
	fields := fieldsOf(b.Inputs)
	switch {
	case len(fields) > 0:
		u.fill(title, fields, b.RequiresConfirmation, func(inputs map[string]any) error {
			err := send(inputs)
			if err == nil {
				u.say(done)
			}
			return err
		})
	case b.RequiresConfirmation:
		u.confirm(title+"?", func() { u.after(done, send(nil)) })
	default:
		u.after(done, send(nil))
	}
}

func (u *ui) rebuild() {
	if names := u.enabledOf(u.targets()); len(names) > 0 {
		u.wish(listed(names)+" will be rebuilt from scratch", func(v store.View) (store.Action, error) { return intent.Rebuild(v, texts(names)) })
	}
}

func (u *ui) restart() {
	names, but := u.restartable(false)
	if len(names) > 0 {
		u.wish(listed(names)+" will be restarted"+but, func(v store.View) (store.Action, error) { return intent.Restart(v, texts(names), false) })
	}
}

// restartPods asks first: what the containers hold is lost.
func (u *ui) restartPods() {
	names, but := u.restartable(true)
	if len(names) == 0 {
		return
	}
	u.confirm(fmt.Sprintf("restart what runs of %s%s? What its containers hold is lost", listed(names), but), func() {
		u.wish(listed(names)+" will be restarted", func(v store.View) (store.Action, error) { return intent.Restart(v, texts(names), true) })
	})
}

// restartable returns those of the targets that can be restarted, and the words that name the others. It says why if none can.
func (u *ui) restartable(pods bool) (names []model.ManifestName, but string) {
	var refused []model.ManifestName
	var first error
	for _, n := range u.enabledOf(u.targets()) {
		err := u.options.Ask(func(v store.View) (store.Action, error) {
			_, err := intent.Restart(v, []string{string(n)}, pods)
			return nil, err
		})
		if err == nil {
			names = append(names, n)
			continue
		}
		refused = append(refused, n)
		first = cmp.Or(first, err)
	}
	switch {
	case first != nil && len(names) == 0:
		u.tell(first)
	case first != nil:
		but = ", not " + listed(refused)
	}
	return names, but
}

// adopt lets resources take over objects of others.
func (u *ui) adopt() {
	names := u.enabledOf(u.targets())
	if len(names) == 0 {
		return
	}
	ask := func(v store.View) (store.Action, error) { return intent.Adopt(v, texts(names)) }
	if err := u.options.Ask(func(v store.View) (store.Action, error) {
		_, err := ask(v)
		return nil, err
	}); err != nil {
		u.tell(err)
		return
	}
	u.confirm(fmt.Sprintf("take over objects of others that %s declares? hone down gives them back", listed(names)), func() {
		u.wish(listed(names)+" takes over what it declares", ask)
	})
}

// prune deletes what the Tiltfile no longer declares.
func (u *ui) prune() {
	ask := func(v store.View) (store.Action, error) { return intent.Prune(v) }
	if err := u.options.Ask(func(v store.View) (store.Action, error) {
		_, err := ask(v)
		return nil, err
	}); err != nil {
		u.tell(err)
		return
	}
	u.confirm("delete all objects that the Tiltfile no longer declares?", func() {
		u.wish("what is no longer declared will be deleted", ask)
	})
}

func (u *ui) togglePause() {
	if u.frame.Session().Paused {
		u.wish("updates begin on their own again", func(v store.View) (store.Action, error) {
			a, changed := intent.Resume(v)
			return changing(a, changed, nil)
		})
		return
	}
	u.wish("paused: changes wait until Z is pressed again", func(v store.View) (store.Action, error) { return changing(intent.Pause(v)) })
}

// saveSnapshot writes a snapshot of the session for a colleague.
func (u *ui) saveSnapshot() {
	if u.options.Snapshot == nil {
		u.say("a snapshot cannot be made here")
		return
	}
	u.say("saving a snapshot…")
	u.job(func(ctx context.Context) func() {
		path, err := u.options.Snapshot(ctx)
		return func() {
			u.after(fmt.Sprintf("snapshot saved to %s; a colleague looks at it with: hone snapshot view FILE", path), err)
		}
	})
}
