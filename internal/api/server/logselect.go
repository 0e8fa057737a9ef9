package server

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// selectors are the parameters that select lines of the log.
var selectors = []string{"resource", "span", "after", "query", "level", "source", "pod", "container", "since", "text"}

// readSelectors returns the selection of the parameters: the part that the log store knows, and the query that they make together.
func readSelectors(v url.Values) (f logstore.Filter, q logquery.Query, err error) {
	for _, list := range v["resource"] {
		for name := range strings.SplitSeq(list, ",") {
			f.Resources = append(f.Resources, model.ManifestName(name))
		}
	}
	f.Span = v.Get("span")
	if q, err = logquery.Parse(v.Get("query")); err != nil {
		return f, q, fmt.Errorf("query: %w", err)
	}
	for _, key := range []string{"level", "source", "pod", "container", "since"} {
		value := v.Get(key)
		switch {
		case value == "all":
			continue
		case key == "level" && value == "" && !q.Leveled():
			value = logstore.LevelInfo.String()
		}
		one, err := logquery.Key(key, value)
		if err != nil {
			return f, q, fmt.Errorf("%s: %w", key, err)
		}
		q = q.And(one)
	}
	text, err := logquery.Pattern(v.Get("text"))
	if err != nil {
		return f, q, fmt.Errorf("text: %w", err)
	}
	return f, q.And(text), nil
}

// lineNumber returns a parameter that is the number of a line; 0 if it is missing.
func lineNumber(v url.Values, name string) (n uint64, err error) {
	text := v.Get(name)
	if text == "" {
		return 0, nil
	}
	if n, err = strconv.ParseUint(text, 10, 64); err != nil {
		return 0, fmt.Errorf("%s: %q is not the number of a line", name, text)
	}
	return n, nil
}
