package answers

import (
	"fmt"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/api"
)

// Clip bounds the texts of a finding, for a reader with little room: each to a number of characters, each list to a number of entries.
func (f Finding) Clip(chars, entries int) Finding {
	f.Text = words.ClipChars(f.Text, chars)
	f.Failure = clipFailure(f.Failure, chars, entries)
	return f
}

// Clip is as for a Finding.
func (r Reason) Clip(chars, entries int) Reason {
	r.Text = words.ClipChars(r.Text, chars)
	r.Failure = clipFailure(r.Failure, chars, entries)
	return r
}

// Clip is as for a Finding.
func (c Change) Clip(chars, entries int) Change {
	c.Text = words.ClipChars(c.Text, chars)
	for _, list := range []*[]string{&c.Files, &c.Has, &c.Lacks} {
		*list = clipList(*list, chars, entries)
	}
	return c
}

// Clip is as for a Finding.
func (l LogLine) Clip(chars, _ int) LogLine {
	l.Written, l.printed = words.ClipChars(l.Written, chars), words.ClipChars(l.printed, chars)
	return l
}

// clipFailure is as Clip for a Finding; without a failure, there is none.
func clipFailure(f *api.Explanation, chars, entries int) *api.Explanation {
	if f == nil {
		return nil
	}
	out := *f
	out.Title, out.Where = words.ClipChars(f.Title, chars), words.ClipChars(f.Where, chars)
	for _, list := range []*[]string{&out.Also, &out.Cause, &out.Changed, &out.Written, &out.Mend, &out.Said, &out.LookFirst, &out.FailedAfter, &out.Waiting} {
		*list = clipList(*list, chars, entries)
	}
	return &out
}

// clipList bounds a list and its entries. The last entry says how many are left out.
func clipList(list []string, chars, entries int) (out []string) {
	for i, s := range list {
		if i == entries {
			return append(out, fmt.Sprintf("… %d more", len(list)-i))
		}
		out = append(out, words.ClipChars(s, chars))
	}
	return out
}
