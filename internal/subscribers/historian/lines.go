package historian

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/tailfile"
	"github.com/hone-dev/hone/pkg/model"
)

// kinds are the lines that are kept, each kind in a file beside the file of the updates, so that a talkative server displaces no lines of
// updates.
var kinds = []struct {
	suffix string
	filter logstore.Filter
}{
	{".log", logstore.Filter{MinLevel: logstore.LevelInfo, Sources: []logstore.Source{logstore.SourceGlobal, logstore.SourceBuild}}},
	{".out", logstore.Filter{MinLevel: logstore.LevelInfo, Sources: []logstore.Source{logstore.SourceRuntime}, Match: local}},
}

// local reports whether a line comes from this machine: from a server or a command of the Tiltfile. The logs of containers are kept by the
// cluster and the engine.
func local(l logstore.LineRef) bool { return l.Pod == "" && l.Container == "" }

// recorder writes the lines of a kind to their file.
type recorder struct {
	file   *tailfile.File
	filter logstore.Filter
	// seen is the number of the newest line that it has looked at.
	seen uint64
}

// newLines returns the records of the newest lines since the last call.
func (r *recorder) newLines(logs *logstore.Store) []byte {
	var out bytes.Buffer
	encode := json.NewEncoder(&out)
	newest := logs.Newest()
	for _, l := range logs.ReadBetween(r.filter, r.seen, newest+1, most) {
		if l.ProgressID == "" {
			_ = encode.Encode(line{l.Time, l.Resource, l.Source, l.Continues, l.Text}) // plain values
		}
	}
	r.seen = newest
	return harmless(out.Bytes())
}

// harmless writes the characters of JSON texts that a terminal may obey as their numbers: people print such files.
func harmless(lines []byte) []byte {
	var out []byte
	for _, r := range string(lines) {
		if r != '\n' && !unicode.IsPrint(r) {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// line is the record of a log line.
type line struct {
	Time      time.Time          `json:"time"`
	Resource  model.ManifestName `json:"resource,omitempty"`
	Source    logstore.Source    `json:"source,omitempty"`
	Continues bool               `json:"continues,omitempty"`
	Text      string             `json:"text"`
}

// Replay writes the newest recorded lines to the logs of a session that begins, and marks their end. They have no levels: old errors are
// no news.
func Replay(path string, logs *logstore.Store) {
	if path == "" {
		return
	}
	var lines []line
	for _, k := range kinds {
		lines = append(lines, tailfile.Read[line](path+k.suffix, most)...)
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.Time.Compare(b.Time) })
	ends := map[origin]time.Time{}
	for _, l := range lines {
		ends[origin{l.Resource, l.Source}] = l.Time
		logs.Append(logstore.Entry{Time: l.Time, Resource: l.Resource, Source: l.Source, Level: logstore.LevelInfo, Continues: l.Continues, Text: l.Text})
	}
	for _, of := range slices.SortedFunc(maps.Keys(ends), origin.compare) {
		logs.Append(logstore.Entry{Time: ends[of], Resource: of.resource, Source: of.source, Level: logstore.LevelInfo,
			Text: "── earlier session, until " + ends[of].Local().Format(time.DateTime) + " ──"})
	}
}

// origin is a resource and one of its logs. Each of them shows where the earlier session ends.
type origin struct {
	resource model.ManifestName
	source   logstore.Source
}

func (o origin) compare(p origin) int {
	return cmp.Or(cmp.Compare(o.resource, p.resource), cmp.Compare(o.source, p.source))
}
