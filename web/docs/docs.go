// Package docs holds hone's documentation: pages of Markdown, which the binary contains. The session serves them as HTML,
// hone docs shows them in the terminal and writes a static site of them, and the end-to-end tests run their commands.
package docs

import (
	"cmp"
	"embed"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed *.md live-update reference screens
var files embed.FS

// Index is the topic of the page that lists all others.
const Index = "index"

// Page is a page of the documentation.
type Page struct {
	// Topic is the page's name, which is the name of its file without its ending: live-update/go.
	Topic string
	// Title is its heading, and Summary is its description in the index.
	Title, Summary string
	// Group is the heading of the index under which it is listed; empty for the index.
	Group string
	// Text is its Markdown.
	Text []byte
}

// markdown is the language of the pages: CommonMark with tables, and anchors for headings as GitHub makes them.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

func parse(source []byte) ast.Node { return markdown.Parser().Parse(text.NewReader(source), anchors()) }

// anchors makes the anchors of one page.
func anchors() parser.ParseOption {
	return parser.WithContext(parser.NewContext(parser.WithIDs(&headingIDs{used: map[string]int{}})))
}

// headingIDs makes anchors as GitHub does: small letters, digits, hyphens and underscores stay, blanks become hyphens, and the second
// heading of the same text gets a number.
type headingIDs struct{ used map[string]int }

func (h *headingIDs) Generate(heading []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(heading)))
	n := h.used[id]
	h.used[id]++
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return []byte(id)
}

func (h *headingIDs) Put(id []byte) { h.used[string(id)]++ }

// Pages returns all pages in the order of the index, which comes first. The result must not be changed.
var Pages = sync.OnceValue(func() []Page {
	index, err := files.ReadFile(Index + ".md")
	if err != nil {
		panic(err) // it is embedded above
	}
	all := []Page{{Topic: Index, Text: index}}
	group := ""
	_ = ast.Walk(parse(index), func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if !enter {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if t := plain(n, index); n.Level == 1 {
				all[0].Title = t
			} else {
				group = t
			}
		case *ast.ListItem:
			link, ok := n.FirstChild().FirstChild().(*ast.Link)
			if !ok {
				break
			}
			_, summary, _ := strings.Cut(plain(n.FirstChild(), index), ": ")
			file := string(link.Destination)
			content, err := files.ReadFile(file)
			if err != nil {
				break // a link to elsewhere; a test reports a missing page
			}
			all = append(all, Page{Topic: strings.TrimSuffix(file, ".md"), Title: plain(link, index), Summary: summary, Group: group, Text: content})
		default:
		}
		return ast.WalkContinue, nil
	})
	return all
})

// Find returns the page of a topic. The last part of its name is enough if no other page has it: "go" is live-update/go.
func Find(topic string) (Page, bool) {
	topic = strings.TrimSuffix(strings.Trim(topic, "/"), ".md")
	var found []Page
	for _, p := range Pages() {
		if p.Topic == topic {
			return p, true
		}
		if path.Base(p.Topic) == topic {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return Page{}, false
	}
	return found[0], true
}

// Match is a page that contains searched words.
type Match struct {
	Page Page
	// Line is the first line of its text with the most words.
	Line string
}

// Search returns the pages that contain all words, whatever their case, best first: those with the words in the title, then
// those with the words close to each other, then the guides before the reference.
func Search(words ...string) (out []Match) {
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	ranks := map[string]int{}
	for _, p := range Pages()[1:] {
		title, body := " "+strings.ToLower(strings.ReplaceAll(p.Topic, "/", " ")+" "+p.Title+" "+p.Summary), strings.ToLower(string(p.Text))
		rank, all := 0, true
		for _, w := range words {
			inTitle := strings.Contains(title, " "+w)
			all = all && (inTitle || strings.Contains(body, w))
			if inTitle {
				rank += 2
			}
		}
		if !all || len(words) == 0 {
			continue
		}
		line, most := best(string(p.Text), words)
		rank += 3 * most
		if strings.HasPrefix(p.Topic, "reference/") {
			rank -= 10
		}
		ranks[p.Topic] = rank
		out = append(out, Match{p, line})
	}
	slices.SortStableFunc(out, func(a, b Match) int { return cmp.Compare(ranks[b.Page.Topic], ranks[a.Page.Topic]) })
	return out
}

// best returns the first line with the most of the words, and how many it has; words that stand side by side as searched count twice.
func best(body string, words []string) (line string, most int) {
	phrase := strings.Join(words, " ")
	for l := range strings.Lines(body) {
		lower, n := strings.ToLower(l), 0
		if strings.Contains(lower, phrase) {
			n += len(words)
		}
		for _, w := range words {
			if strings.Contains(lower, w) {
				n++
			}
		}
		if n > most {
			line, most = strings.TrimSpace(l), n
		}
	}
	return line, most
}

// plain returns the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if !enter {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		default:
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
