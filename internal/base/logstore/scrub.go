package logstore

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hone-dev/hone/pkg/model"
)

// minSecret is the least length in bytes of a value that is hidden: shorter values ("true", "8080") are not secret, and
// hiding them would damage many ordinary lines.
const minSecret = 5

// minSecretLine is the least length of a line that is hidden in a value of several lines. It is higher because such a
// value is often a whole file, whose short lines ("server:") are not secret.
const minSecretLine = 12

// scrubber replaces secrets in a line in one pass. It checks the four bytes at each position against a small bit table,
// which fits the processor's first-level cache and rejects nearly all positions. A nil *scrubber knows no secret.
type scrubber struct {
	bits    [1 << 13]byte // 65536 bits, by hash of a pattern's first four bytes
	byHead  map[uint32][]pattern
	sorted  []string // every pattern, for isOpen
	longest int
}

type pattern struct {
	text  string
	label string
	// stays reports whether the value text[from:to] is not hidden; nil hides it everywhere.
	stays func(text string, from, to int) bool
}

func headHash(h uint32) uint32 { return h * 2654435761 >> 16 }

func head(s string, i int) uint32 {
	_ = s[i+3]
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

// RedactedMark is the beginning of each placeholder that replaces a secret.
const RedactedMark = "[redacted"

// Redacted reports whether text contains a placeholder.
func Redacted(text string) bool { return strings.Contains(text, RedactedMark) }

// newScrubber returns nil if there is nothing to hide.
func newScrubber(secrets []model.Secret) *scrubber {
	sc := &scrubber{byHead: map[uint32][]pattern{}}
	labels, named := map[string]string{}, map[string]bool{}
	for _, secret := range secrets {
		named[secret.Value] = named[secret.Value] || secret.Named
		label := RedactedMark + " secret " + secret.Name + ":" + secret.Key + "]"
		for _, form := range secretForms(secret.Value) {
			if _, ok := labels[form]; !ok {
				labels[form] = label
			}
		}
	}
	for text, label := range labels {
		h := head(text, 0)
		sc.byHead[h] = append(sc.byHead[h], pattern{text, label, staying(text, named[text])})
		bit := headHash(h)
		sc.bits[bit>>3] |= 1 << (bit & 7)
		sc.sorted = append(sc.sorted, text)
		sc.longest = max(sc.longest, len(text))
	}
	if len(sc.sorted) == 0 {
		return nil
	}
	for _, list := range sc.byHead {
		slices.SortFunc(list, func(a, b pattern) int { return cmp.Compare(len(b.text), len(a.text)) })
	}
	slices.Sort(sc.sorted)
	return sc
}

// secretForms returns the forms in which a value may appear in a line.
func secretForms(value string) []string {
	var forms []string
	add := func(s string, least int) {
		if len(s) >= least {
			forms = append(forms, s)
		}
	}
	lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
	trimmed := strings.Trim(value, "\r\n")
	if len(lines) == 1 {
		add(lines[0], minSecret)
	} else {
		for _, l := range lines {
			if l = strings.TrimSpace(l); !strings.HasPrefix(l, "-----") {
				add(l, minSecretLine)
			}
		}
	}
	if len(trimmed) < minSecret {
		return forms
	}
	for _, v := range []string{value, trimmed} {
		// The encoding without padding is a prefix of the one with padding, but the longer match leaves no "==" behind.
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			add(enc.EncodeToString([]byte(v)), minSecret)
		}
		if quoted, err := json.Marshal(v); err == nil {
			add(string(quoted[1:len(quoted)-1]), minSecret)
		}
	}
	for before := range 3 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			add(inBase64(trimmed, before, enc), minSecret)
		}
	}
	return forms
}

// inBase64 returns how a value is encoded within a text that has the given number of bytes before it, apart from a multiple of three: the
// characters that no other byte of the text has a part in.
func inBase64(value string, before int, enc *base64.Encoding) string {
	text := enc.EncodeToString([]byte("xx"[:before] + value))
	return text[(before*8+5)/6 : (before+len(value))*8/6]
}

// line returns text without the secrets in it, and without passwords in URLs.
func (sc *scrubber) line(text string) string { return HideUserinfo(sc.values(text)) }

// values returns text without the secrets in it. Secrets that overlap are replaced as one.
func (sc *scrubber) values(text string) string {
	if sc == nil || len(text) < minSecret {
		return text
	}
	var b strings.Builder
	done, end, label := 0, -1, ""
	flush := func() {
		if end >= 0 {
			b.WriteString(label)
			done, end = end, -1
		}
	}
	for i := 0; i+4 <= len(text); i++ {
		p, ok := sc.at(text, i)
		if !ok {
			continue
		}
		if i >= end {
			flush()
			b.WriteString(text[done:i])
			done, label = i, p.label
		}
		end = max(end, i+len(p.text))
	}
	if done == 0 && end < 0 {
		return text
	}
	flush()
	b.WriteString(text[done:])
	return b.String()
}

// at returns the longest secret that starts at text[i].
func (sc *scrubber) at(text string, i int) (pattern, bool) {
	h := head(text, i)
	bit := headHash(h)
	if sc.bits[bit>>3]&(1<<(bit&7)) == 0 {
		return pattern{}, false
	}
	for _, p := range sc.byHead[h] {
		if strings.HasPrefix(text[i:], p.text) && (p.stays == nil || !p.stays(text, i, i+len(p.text))) {
			return p, true
		}
	}
	return pattern{}, false
}

// isOpen reports whether the end of text may be the start of a secret, so that text must not be shown yet.
func (sc *scrubber) isOpen(text string) bool {
	if sc == nil {
		return false
	}
	for n := 1; n <= min(len(text), sc.longest-1); n++ {
		tail := text[len(text)-n:]
		i, _ := slices.BinarySearch(sc.sorted, tail)
		// The first pattern at or after tail starts with it if any does; an equal one is complete, the next may be longer.
		for ; i < len(sc.sorted) && sc.sorted[i] == tail; i++ {
		}
		if i < len(sc.sorted) && strings.HasPrefix(sc.sorted[i], tail) {
			return true
		}
	}
	return false
}

// cut returns a position at or before want, on a rune boundary, at which text can be split without splitting a secret,
// including a secret whose end has not arrived yet.
func (sc *scrubber) cut(text string, want int) int {
	if sc == nil {
		return runeStart(text, want)
	}
	limit := runeStart(text, min(want, len(text)-sc.longest+1))
	for limit > 0 {
		i := sc.straddling(text, limit)
		if i < 0 {
			return limit
		}
		limit = i
	}
	return runeStart(text, want) // overlapping secrets from end to end: no position is better
}

// straddling returns the start of the first secret that extends across limit, or -1.
func (sc *scrubber) straddling(text string, limit int) int {
	for i := max(0, limit-sc.longest); i < limit && i+4 <= len(text); i++ {
		if p, ok := sc.at(text, i); ok && i+len(p.text) > limit {
			return i
		}
	}
	return -1
}

func runeStart(text string, i int) int {
	if i <= 0 || i >= len(text) {
		return max(0, min(i, len(text)))
	}
	for n := 0; n < utf8.UTFMax && i-n > 0; n++ {
		if utf8.RuneStart(text[i-n]) {
			return i - n
		}
	}
	return i
}

// Scrubber replaces secrets in text that does not pass through a store, by the rules of Store.SetSecrets. The zero
// value knows no secret.
type Scrubber struct{ sc *scrubber }

// NewScrubber returns a scrubber for the given secrets.
func NewScrubber(secrets []model.Secret) Scrubber { return Scrubber{newScrubber(secrets)} }

// Empty reports whether it knows no secret.
func (s Scrubber) Empty() bool { return s.sc == nil }

// Text returns text without the secrets in it, and without passwords in URLs.
func (s Scrubber) Text(text string) string { return s.sc.line(text) }

// Address returns an address that must lead somewhere without the secrets in it. It keeps its own password.
func (s Scrubber) Address(text string) string { return s.sc.values(text) }
