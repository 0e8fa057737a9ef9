package screen

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Request turns a request of the user into an action; the action is nil if there is nothing to do. The error is why the session
// refuses the request.
type Request func(v store.View) (store.Action, error)

// request asks something of the session, and says done once the session has accepted it.
func (u *ui) request(done string, w Request) {
	if err := u.send(done, w); err != nil {
		u.tell(err)
	}
}

// send is request, but returns a refusal that is known at once.
func (u *ui) send(done string, w Request) error {
	accepted, err := u.options.Ask(w)
	switch {
	case err != nil:
		return err
	case accepted == nil:
		u.say(done)
	default:
		u.job(func(ctx context.Context) func() {
			err := accepted(ctx)
			return func() { u.after(done, err) }
		})
	}
	return nil
}

// changing is the answer to a request that may change nothing.
func changing[A store.Action](a A, changed bool, err error) (store.Action, error) {
	if err != nil || !changed {
		return nil, err
	}
	return a, nil
}

// after reports the result of a request.
func (u *ui) after(done string, err error) {
	if err != nil {
		u.tell(err)
		return
	}
	u.say(done)
}

// targets returns the resources that a key acts on: the marked ones, if the key is pressed in the table; else the members of the
// selected group; else the resource that the view on top shows, or the selected one.
func (u *ui) targets() []model.ManifestName {
	switch l := u.table.current(); {
	case u.top() != u.main:
		if r := u.target(); r != nil {
			return []model.ManifestName{r.Name}
		}
	case len(u.table.marked) > 0:
		return u.table.markedRows()
	case l == nil:
	case l.row == nil:
		return u.table.members(l.group)
	default:
		return []model.ManifestName{l.row.Name}
	}
	return nil
}

// enabledOf returns the names of resources that are not disabled; if all are disabled they stay, for the refusal.
func (u *ui) enabledOf(names []model.ManifestName) []model.ManifestName {
	on := slices.DeleteFunc(slices.Clone(names), func(n model.ManifestName) bool {
		c, ok := u.frame.Controls(n)
		return ok && c.Disabled
	})
	if len(on) == 0 {
		return names
	}
	return on
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

// askEach asks something of each target that allows it, and says done for them.
func (u *ui) askEach(verb, done string) {
	names, but, err := u.able(verb)
	if err != nil {
		u.tell(err)
		return
	}
	u.request(listed(names)+done+but, asks[verb](texts(names)))
}

func (u *ui) trigger() { u.askEach("trigger", " will be updated") }

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
		u.request(listed(names)+map[bool]string{true: " will be enabled", false: " will be disabled"}[to], func(v store.View) (store.Action, error) {
			return changing(intent.SetEnabled(v, to, texts(names)))
		})
	}
	switch {
	case len(on) == 0:
		turn(true, names)
	case len(deployed) == 0:
		turn(false, on)
	default:
		u.confirm(fmt.Sprintf("disable %s? Its processes are stopped, and its objects deleted", listed(on)), func() { turn(false, on) })
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
	said := map[model.TriggerMode]string{
		model.TriggerAuto:   listed(names) + ": updated when files change",
		model.TriggerManual: listed(names) + ": updated on request only (t)",
	}[mode]
	u.request(said, func(v store.View) (store.Action, error) { return intent.SetTriggerMode(v, texts(names), mode) })
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
			u.request("the Tiltfile will be evaluated with these arguments", func(v store.View) (store.Action, error) {
				return changing(intent.SetArguments(v, args))
			})
		}
	})
}

// chooseButton shows the buttons of the resource and of the session.
func (u *ui) chooseButton() {
	var of model.ManifestName
	if r := u.target(); r != nil {
		of = r.Name
	}
	u.choose("buttons", func() []choice { return u.buttonChoices(of) })
}

func (u *ui) buttonChoices(of model.ManifestName) []choice {
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
	if c, ok := u.frame.Controls(of); ok {
		add(string(of), c.Buttons)
	}
	add("the session", u.frame.Session().Buttons)
	return choices
}

// click clicks a button, after the user has filled in its inputs.
func (u *ui) click(b model.Button) {
	title := cmp.Or(b.Text, b.Name)
	done := "clicked " + title
	if b.Log != "" {
		done += ": its output is in the log of " + string(b.Log)
	}
	clicked := func(inputs map[string]any) Request {
		return func(v store.View) (store.Action, error) { return intent.Click(v, b.Name, inputs) }
	}
	fields := fieldsOf(b.Inputs)
	switch {
	case len(fields) > 0:
		u.fill(title, fields, b.RequiresConfirmation, func(inputs map[string]any) error { return u.send(done, clicked(inputs)) })
	case b.RequiresConfirmation:
		u.confirm(title+"?", func() { u.request(done, clicked(nil)) })
	default:
		u.request(done, clicked(nil))
	}
}

func (u *ui) rebuild() { u.askEach("rebuild", " will be rebuilt from scratch") }

func (u *ui) restart() { u.askEach("restart", " will be restarted") }

// confirmEach asks the user a question with the names in it, and then works like askEach.
func (u *ui) confirmEach(verb, question, done string) {
	names, but, err := u.able(verb)
	if err != nil {
		u.tell(err)
		return
	}
	u.confirm(fmt.Sprintf(question, listed(names)+but), func() { u.request(listed(names)+done, asks[verb](texts(names))) })
}

// restartPods asks first: the contents of the containers are lost.
func (u *ui) restartPods() {
	u.confirmEach("restart-pods", "restart the pods of %s? Changes inside their containers are lost", " will be restarted")
}

// adopt lets resources take over objects of others.
func (u *ui) adopt() {
	u.confirmEach("adopt", "take over objects of others that %s declares? hone down gives them back", " takes over what it declares")
}

// restore applies resources again over the changes of others. It asks first only if something is lost that cannot be brought back.
func (u *ui) restore() {
	names, but, err := u.able("restore")
	if err != nil {
		u.tell(err)
		return
	}
	var lost []string
	for _, n := range names {
		if c, ok := u.frame.Controls(n); ok && c.Loses != "" {
			lost = append(lost, c.Loses)
		}
	}
	ask := func() { u.request(listed(names)+" will be applied again"+but, asks["restore"](texts(names))) }
	if len(lost) == 0 {
		ask()
		return
	}
	u.confirm(fmt.Sprintf("restore %s? %s", listed(names), strings.Join(lost, "; ")), ask)
}

// accept leaves the fields that others have changed to them.
func (u *ui) accept() {
	u.askEach("accept", ": what others have changed stays, until the Tiltfile's own values change")
}

// prune deletes objects that the Tiltfile no longer declares.
func (u *ui) prune() {
	u.confirm("delete all objects that the Tiltfile no longer declares?", func() {
		u.request("what is no longer declared will be deleted", func(v store.View) (store.Action, error) { return intent.Prune(v) })
	})
}

func (u *ui) togglePause() {
	if u.frame.Session().Paused {
		u.request("updates begin on their own again", func(v store.View) (store.Action, error) {
			a, changed := intent.Resume(v)
			return changing(a, changed, nil)
		})
		return
	}
	u.request("paused: changes wait until Z is pressed again", func(v store.View) (store.Action, error) { return changing(intent.Pause(v)) })
}

// saveSnapshot writes a snapshot of the session for a colleague.
func (u *ui) saveSnapshot() {
	u.say("saving a snapshot…")
	u.job(func(ctx context.Context) func() {
		path, err := u.options.Snapshot(ctx)
		return func() {
			u.after(fmt.Sprintf("snapshot saved to %s; a colleague looks at it with: hone snapshot view FILE", path), err)
		}
	})
}
