package screen

import (
	"context"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/rawfile"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// placeTime is the time after which a file is looked up again.
	placeTime = 30 * time.Second
	// mostPlaces bounds the files that are remembered.
	mostPlaces = 1000
)

// links turns addresses and names of files into links. The terminal opens them.
type links struct {
	on bool
	// host is the name of the machine with the files; empty if the user's machine is another one.
	host string
	// local returns the path here of a file of the session's machine.
	local func(path string) string
	now   time.Time
	// places are the files that output has named, and wanted those that must be looked for.
	places  map[placeName]placeFound
	wanted  map[placeName]bool
	looking bool
}

// placeName is a file as the output of a resource names it.
type placeName struct {
	resource model.ManifestName
	file     string
}

// placeFound is the result of a lookup; path is empty if the file is not in the source tree.
type placeFound struct {
	path string
	at   time.Time
}

func newLinks(o Options) *links {
	return &links{on: o.About.Abilities().Links && !o.Settings.NoLinks, host: o.About.Host, local: o.local, places: map[placeName]placeFound{}, wanted: map[placeName]bool{}}
}

// linkSchemes are the schemes of the addresses that become links.
var linkSchemes = []string{"http", "https", "file"}

// active reports whether links are made; nil makes none.
func (l *links) active() bool { return l != nil && l.on }

// toFiles reports whether links lead to files, which are on the user's machine.
func (l *links) toFiles() bool { return l.active() && l.host != "" }

// link makes a link of a part of a drawn line.
func (c canvas) link(x, y, width int, address string) {
	scheme, _, _ := strings.Cut(address, ":")
	if !c.links.active() || width <= 0 || !slices.Contains(linkSchemes, scheme) {
		return
	}
	c.restyle(x, y, width, func(s tcell.Style) tcell.Style { return s.Url(address) })
}

// linkLine turns a drawn row into a link to the address or the file that its line leads to: the name in it, or the whole row if
// it does not contain the name.
func (c canvas) linkLine(x, y, width int, to view.Target, row view.Cell) {
	address, name := to.URL, to.URL
	if to.File != "" {
		address, name = c.links.file(to.File, to.Line), to.File
	}
	said := row.String()
	from, n := strings.Index(said, name), len(name)
	if from < 0 {
		from = len(said) - len(strings.TrimLeft(said, " "))
		n = len(strings.TrimRight(said, " ")) - from
	}
	if n > 0 {
		at := text.Width(said[:from])
		c.link(x+at, y, min(text.Width(said[from:from+n]), width-at), address)
	}
}

// linkPlaces makes links of the files that a drawn text of a resource names.
func (c canvas) linkPlaces(x, y, width int, resource model.ManifestName, s string) {
	if !c.links.toFiles() || !strings.ContainsAny(s, `:("`) {
		return
	}
	for _, p := range logline.Places(s) {
		at := text.Width(s[:p.Start])
		c.link(x+at, y, min(text.Width(s[p.Start:p.End]), width-at), c.links.place(resource, p))
	}
}

// place returns the address of a file that output names; empty if it is unknown, or not known yet.
func (l *links) place(resource model.ManifestName, p logline.Place) string {
	return l.file(l.path(placeName{resource, p.File}), p.Line)
}

// path returns the path of a file that output names; empty if it is not in the source tree. A file that was not looked up yet is
// looked up, and known in a later frame.
func (l *links) path(name placeName) string {
	found := l.places[name]
	if l.now.Sub(found.at) > placeTime {
		l.wanted[name] = true
	}
	return found.path
}

// known reports whether a file that output names is in the source tree, as path does.
func (l *links) known(resource model.ManifestName, p logline.Place) bool {
	return l.path(placeName{resource, p.File}) != ""
}

// file returns the address of a file that is on this machine, at a line unless that is 0.
func (l *links) file(path string, line int) string {
	if l == nil || l.host == "" || path == "" {
		return ""
	}
	if path = l.local(path); path == "" {
		return ""
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Host: l.host, Path: path}
	if line > 0 {
		u.Fragment = strconv.Itoa(line)
	}
	return u.String()
}

// findPlaces looks up the files that drawn lines name, away from the drawing.
func (u *ui) findPlaces() {
	l := u.links
	if len(l.wanted) == 0 || l.looking || u.frame.Locate == nil {
		return
	}
	wanted, locate := slices.Collect(maps.Keys(l.wanted)), u.frame.Locate
	l.looking = u.jobs.start(u, func(ctx context.Context) func() {
		found := map[placeName]string{}
		for _, name := range wanted {
			if ctx.Err() != nil {
				return nil
			}
			for _, path := range locate(name.resource, name.file) {
				if rawfile.IsRegular(l.local(path)) {
					found[name] = path
					break
				}
			}
		}
		return func() {
			l.looking = false
			if len(l.places)+len(wanted) > mostPlaces {
				clear(l.places)
			}
			for _, name := range wanted {
				l.places[name] = placeFound{found[name], u.options.Now()}
			}
		}
	})
	if l.looking {
		clear(l.wanted)
	}
}
