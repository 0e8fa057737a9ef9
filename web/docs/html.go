package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// site holds the files that the pages load: the style, the icon and the search. The session's page is built with the same palette
// and icon.
//
//go:embed site
var site embed.FS

// assets are the files of site.
var assets = []string{"docs.css", "docs.js", "favicon.svg", "palette.css"}

// searchFile is the file that docs.js searches.
const searchFile = "search.json"

// HTMLNames returns the names of all files of the documentation as a web site. Its pages refer to each other by relative addresses,
// so that it can be put anywhere.
func HTMLNames() (out []string) {
	for _, p := range Pages() {
		out = append(out, p.Topic+".html")
	}
	pictures, err := fs.Glob(files, "screens/*")
	if err != nil {
		panic(err) // the pattern is right
	}
	return slices.Concat(out, pictures, assets, []string{searchFile})
}

// HTML returns the content of a file that HTMLNames names.
func HTML(name string) ([]byte, error) {
	switch {
	case name == searchFile:
		return searchData()
	case strings.HasSuffix(name, ".html"):
		topic := strings.TrimSuffix(name, ".html")
		for _, p := range Pages() {
			if p.Topic == topic {
				return p.html()
			}
		}
		return nil, fs.ErrNotExist
	case strings.HasPrefix(name, "screens/"):
		return fs.ReadFile(files, name)
	}
	return fs.ReadFile(site, path.Join("site", name))
}

// WriteSite writes the web site into a folder, which is made if it is missing. Files of the same names are replaced.
func WriteSite(dir string) error {
	for _, name := range HTMLNames() {
		content, err := HTML(name)
		if err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", name, err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil { //nolint:gosec // a web server reads it
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// up returns the way from a page to the top of the site.
func (p Page) up() string { return strings.Repeat("../", strings.Count(p.Topic, "/")) }

func (p Page) html() ([]byte, error) {
	var body bytes.Buffer
	if err := pageMarkdown.Convert(p.Text, &body, anchors()); err != nil {
		return nil, err
	}
	up := p.up()
	var b bytes.Buffer
	fmt.Fprintf(&b, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>%s – hone</title>
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="%sfavicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="%sdocs.css">
<script type="module" src="%sdocs.js"></script>
</head>
<body data-up="%s">
<a class="skip" href="#content">To the text</a>
<nav aria-label="Documentation">
<p><a href="%sindex.html">hone</a></p>
<form role="search" hidden><input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off"></form>
<div id="found" aria-live="polite"></div>
<div id="contents">
`, html.EscapeString(p.Title), up, up, up, up, up)
	p.contents(&b)
	fmt.Fprintf(&b, "</div>\n</nav>\n<main id=\"content\">\n%s</main>\n</body>\n</html>\n", body.Bytes())
	return b.Bytes(), nil
}

// contents writes the list of all pages. All groups are folded, except the group of the page.
func (p Page) contents(b *bytes.Buffer) {
	group := ""
	for _, other := range Pages()[1:] {
		if other.Group != group {
			if group != "" {
				b.WriteString("</ul></details>\n")
			}
			group = other.Group
			open := ""
			if group == p.Group || p.Topic == Index {
				open = " open"
			}
			fmt.Fprintf(b, "<details%s><summary>%s</summary><ul>\n", open, html.EscapeString(group))
		}
		current := ""
		if other.Topic == p.Topic {
			current = ` aria-current="page"`
		}
		fmt.Fprintf(b, "<li><a href=\"%s%s.html\"%s>%s</a></li>\n", p.up(), other.Topic, current, html.EscapeString(other.Title))
	}
	b.WriteString("</ul></details>\n")
}

// searchData returns the data for the site's search: the address, title, summary and text of each page.
func searchData() ([]byte, error) {
	type entry struct {
		Page    string `json:"page"`
		Title   string `json:"title"`
		Summary string `json:"summary"`
		Text    string `json:"text"`
	}
	var all []entry
	for _, p := range Pages()[1:] {
		all = append(all, entry{p.Topic + ".html", p.Title, p.Summary, string(p.Text)})
	}
	return json.Marshal(all)
}

// pageMarkdown writes the HTML of pages.
var pageMarkdown = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(toHTML{}, 100))),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
)
