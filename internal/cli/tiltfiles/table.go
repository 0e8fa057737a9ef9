package tiltfiles

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/pkg/api"
)

// mostObjects bounds how many objects of a resource the table names.
const mostObjects = 4

// writeTable prints a result for people. Errors and warnings are not part of it: they are on standard error anyway.
func writeTable(out io.Writer, r api.TiltfileResult) error {
	switch {
	case r.Profile != nil:
		return writeProfile(out, *r.Profile)
	case len(r.Errors) > 0:
		return nil
	}
	if len(r.Resources) == 0 {
		_, err := fmt.Fprintln(out, "The Tiltfile declares no resources.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	tableRow(w, "NAME", "TYPE", "TRIGGER", "AFTER", "LABELS", "IMAGES", "OBJECTS", "PORTS AND LINKS")
	for _, m := range r.Resources {
		tableRow(w, m.Name, m.Type, triggerText(m), strings.Join(m.ResourceDeps, " "), strings.Join(m.Labels, " "), imagesText(m.Images),
			objectsText(m.Objects), reachText(m))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", summary(r))
	return err
}

// tableRow writes a line whose empty cells are dashes. Control characters are left out.
func tableRow(w io.Writer, cells ...string) {
	for i, c := range cells {
		cells[i] = cmp.Or(text.Clean(c), "–")
	}
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}

func triggerText(m api.TiltfileResource) string {
	text := map[int]string{api.TriggerAuto: "auto", api.TriggerManualAfterInitial: "manual", api.TriggerManual: "manual, no init",
		api.TriggerAutoAfterInitial: "auto, no init"}[m.TriggerMode]
	if !m.Enabled {
		text += " (disabled)"
	}
	return text
}

func imagesText(images []api.TiltfileImage) string {
	var out []string
	for _, im := range images {
		text := im.Ref
		if text == "" {
			text = "container " + im.Container
		}
		if len(im.LiveUpdate) > 0 {
			text += " (live)"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// objectsText names the objects without their namespaces.
func objectsText(objects []string) string {
	short := make([]string, 0, mostObjects)
	for _, o := range objects[:min(len(objects), mostObjects)] {
		parts := strings.Split(o, "/")
		short = append(short, parts[0]+"/"+parts[len(parts)-1])
	}
	text := strings.Join(short, " ")
	if n := len(objects) - mostObjects; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

func reachText(m api.TiltfileResource) string {
	var out []string
	for _, p := range m.PortForwards {
		text := strconv.Itoa(p.LocalPort)
		if p.ContainerPort != 0 {
			text += ":" + strconv.Itoa(p.ContainerPort)
		}
		out = append(out, text)
	}
	for _, l := range m.Links {
		out = append(out, l.URL)
	}
	return strings.Join(out, " ")
}

func summary(r api.TiltfileResult) string {
	images, live, objects := map[string]bool{}, map[string]bool{}, 0
	for _, m := range r.Resources {
		objects += len(m.Objects)
		for _, im := range m.Images {
			images[im.Ref] = true
			if len(im.LiveUpdate) > 0 {
				live[im.Ref] = true
			}
		}
	}
	parts := []string{words.Count(len(r.Resources), "resource"), words.Count(objects, "object"),
		fmt.Sprintf("%s (%d with live update)", words.Count(len(images), "image"), len(live))}
	if len(r.Warnings) > 0 {
		parts = append(parts, words.Count(len(r.Warnings), "warning"))
	}
	return strings.Join(parts, ", ")
}
