package screen

import (
	"context"
	"fmt"

	"github.com/hone-dev/hone/internal/loop/shell"
)

// openShell runs a shell in a container of the resource, which the user chooses if there are several, or in its folder.
func (u *ui) openShell() {
	resource := u.target().Name
	name := string(resource)
	place, err := u.frame.Shell(resource)
	switch {
	case err != nil:
		u.tell(err)
	case place.Folder != nil:
		u.runShell(name, "", "")
	case len(place.Containers) == 1:
		u.runShell(name, place.Containers[0].Pod, place.Containers[0].Name)
	default:
		u.choose("shell of "+name, func() []choice {
			place, err := u.frame.Shell(resource)
			if err != nil {
				return nil
			}
			return u.containerChoices(place)
		})
	}
}

// containerChoices lists containers: each with its pod, unless all have the same.
func (u *ui) containerChoices(p shell.Place) []choice {
	pods := map[string]bool{}
	for _, c := range p.Containers {
		pods[c.Pod] = true
	}
	var choices []choice
	for _, c := range p.Containers {
		text := c.Name
		if p.Compose {
			text = c.Pod
		} else if len(pods) > 1 {
			text = fmt.Sprintf("%s in %s", c.Name, c.Pod)
		}
		choices = append(choices, choice{text: text, note: noteOn(c), do: func() { u.runShell(string(p.Resource), c.Pod, c.Name) }})
	}
	return choices
}

// noteOn names the feature that distinguishes a container from others.
func noteOn(c shell.Container) string {
	note := ""
	add := func(is bool, text string) {
		if is && note != "" {
			note += ", "
		}
		if is {
			note += text
		}
	}
	add(c.Live, "live updates go to it")
	add(c.Kind != shell.Ordinary, string(c.Kind))
	add(c.Old, "of an older deploy")
	add(!c.PodReady, "not ready")
	return note
}

func (u *ui) runShell(resource, pod, container string) {
	u.outside(func(ctx context.Context) error { return u.options.Programs.Shell(ctx, resource, pod, container) })
}
