package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// chooseForward lists the port forwards of the resource, and the way to add one.
func (u *ui) chooseForward() {
	name := string(u.target().Name)
	u.choose("port forwards of "+name, func() []choice { return u.forwardChoices(name) })
}

func (u *ui) forwardChoices(name string) []choice {
	c, _ := u.frame.Controls(model.ManifestName(name))
	var choices []choice
	for _, f := range c.Forwards {
		marks := map[view.Tone]view.Span{view.Good: glyphs[view.Well], view.Bad: glyphs[view.Failed]}
		mark, ok := marks[f.Tone]
		if !ok {
			mark = glyphs[view.Waiting]
		}
		choices = append(choices, choice{text: forwardText(f.Spec), mark: mark, note: f.Text, do: func() { u.changeForward(name, f.Spec) }})
	}
	add := choice{text: "add a port forward…", do: func() { u.askForward(name) }}
	if err := u.try(func(v store.View) (store.Action, error) { return nil, intent.Forwardable(v, name) }); err != nil {
		add.off = oneLineOf(err)
	}
	return append(choices, add)
}

// forwardText is a port forward as it is written in a Tiltfile.
func forwardText(f model.PortForward) string {
	s := f.Address()
	if f.ContainerPort > 0 {
		s += fmt.Sprintf(":%d", f.ContainerPort)
	}
	if f.Name != "" {
		s += "  " + f.Name
	}
	return s
}

func (u *ui) askForward(name string) {
	u.ask("forward [host:]local[:container] to "+name+": ", "", func(s string) error {
		_, err := model.ParsePortForward(strings.TrimSpace(s))
		return err
	}, func(s string, ok bool) {
		if !ok {
			return
		}
		f, err := model.ParsePortForward(strings.TrimSpace(s))
		if err != nil {
			u.tell(err)
			return
		}
		u.request("port "+f.Address()+" will be forwarded to "+name+" until the session ends", func(v store.View) (store.Action, error) { return intent.AddForward(v, name, f) })
	})
}

// changeForward lists the actions on a port forward.
func (u *ui) changeForward(name string, spec model.PortForward) {
	address := spec.Address()
	u.choose("port "+address+" of "+name, func() []choice {
		c, _ := u.frame.Controls(model.ManifestName(name))
		i := slices.IndexFunc(c.Forwards, func(f view.Forward) bool { return f.Spec == spec })
		if i < 0 {
			return nil // it is gone
		}
		url := c.Forwards[i].URL
		open := choice{text: "open in the browser", note: url, do: func() { u.open(url) }}
		if url == "" {
			open.off = "it is not open yet"
		}
		return []choice{
			open,
			{text: "change the local port…", do: func() { u.askLocalPort(name, address) }},
			{text: "remove", note: "until the session ends", do: func() {
				u.request("port "+address+" of "+name+" will be closed", func(v store.View) (store.Action, error) { return intent.RemoveForward(v, name, address) })
			}},
		}
	})
}

func (u *ui) askLocalPort(name, address string) {
	u.ask("local port: ", "", func(s string) error { _, err := model.ParsePort(strings.TrimSpace(s)); return err }, func(s string, ok bool) {
		port, err := model.ParsePort(strings.TrimSpace(s))
		switch {
		case !ok:
		case err != nil:
			u.tell(err)
		default:
			u.request(fmt.Sprintf("port %d will be forwarded to %s", port, name), func(v store.View) (store.Action, error) { return intent.ChangeForward(v, name, address, port) })
		}
	})
}
