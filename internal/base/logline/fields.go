package logline

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Role is the meaning of a field that every logger writes.
type Role uint8

// The roles. At most one field of a line has each of RoleTime, RoleLevel and RoleMessage.
const (
	RoleNone Role = iota
	RoleTime
	RoleLevel
	RoleMessage
)

// Field is a named value of a line.
type Field struct {
	// Key is the field's name. Names of nested objects stand before it, with dots: "http.status".
	Key string
	// Value is the text of a string, else JSON: a number, true, a list.
	Value string
	Role  Role
}

const (
	maxDepth = 16  // of nested objects; deeper ones stay JSON
	maxPairs = 512 // in a line; a line with more has no fields
)

// Fields returns the fields of a line that is a JSON object, or logfmt with at least two fields, in their order. ok is false
// for every other line.
func Fields(text string) (fields []Field, ok bool) {
	if len(text) > maxFields {
		return nil, false
	}
	t := strings.TrimSpace(Plain(text))
	switch {
	case strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}"):
		dec := json.NewDecoder(strings.NewReader(t))
		dec.UseNumber()
		if _, err := dec.Token(); err != nil {
			return nil, false
		}
		if fields, ok = members(dec, nil, "", 1); !ok || dec.More() || dec.InputOffset() != int64(len(t)) {
			return nil, false
		}
	default:
		if fields = pairs(t); len(fields) < 2 {
			return nil, false
		}
	}
	assign(fields)
	return fields, len(fields) > 0
}

// members reads the members of an object, up to its end.
func members(dec *json.Decoder, to []Field, prefix string, depth int) ([]Field, bool) {
	for dec.More() {
		tok, err := dec.Token()
		name, isName := tok.(string)
		if err != nil || !isName || len(to) >= maxPairs {
			return nil, false
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, false
		}
		key := prefix + name
		switch {
		case raw[0] == '{' && depth < maxDepth && len(raw) > 2:
			inner := json.NewDecoder(strings.NewReader(string(raw)))
			inner.UseNumber()
			if _, err := inner.Token(); err != nil {
				return nil, false
			}
			var ok bool
			if to, ok = members(inner, to, key+".", depth+1); !ok {
				return nil, false
			}
		case raw[0] == '"':
			var s string
			if json.Unmarshal(raw, &s) != nil {
				return nil, false
			}
			to = append(to, Field{Key: key, Value: s})
		default:
			to = append(to, Field{Key: key, Value: string(raw)})
		}
	}
	_, err := dec.Token()
	return to, err == nil
}

// pairs reads logfmt; nil if the line is anything else.
func pairs(t string) (fields []Field) {
	for i := blanks(t, 0); i < len(t); i = blanks(t, i) {
		k, v, end := pair(t, i)
		if end < 0 || len(fields) >= maxPairs {
			return nil
		}
		if at(t, i+len(k)+1) == '"' {
			if at(t, end-1) != '"' || end-1 == i+len(k)+1 {
				return nil // never closed
			}
			if s, err := strconv.Unquote(`"` + v + `"`); err == nil {
				v = s
			}
		}
		fields = append(fields, Field{Key: k, Value: v})
		i = end
	}
	return fields
}

// The keys of the roles, the most usual first.
var (
	timeKeys    = []string{"time", "ts", "timestamp", "@timestamp", "@t", "t", "datetime", "asctime", "Timestamp", "eventTime", "date"}
	messageKeys = []string{"msg", "message", "@m", "@message", "Message", "short_message", "@mt", "body", "event", "text"}
	levelKeys   = []string{"level", "severity", "lvl", "@l", "@level", "log.level", "levelname", "level_name", "loglevel", "log_level", "logLevel", "LogLevel",
		"Level", "Severity", "severityText", "SeverityText", "severity_text", "LEVEL", "SEVERITY"}
)

// assign gives the roles to fields.
func assign(fields []Field) {
	give := func(keys []string, role Role, fits func(Field) bool) {
		for _, k := range keys {
			for i := range fields {
				if fields[i].Key == k && fields[i].Role == RoleNone && fits(fields[i]) {
					fields[i].Role = role
					return
				}
			}
		}
	}
	give(levelKeys, RoleLevel, func(f Field) bool { return value(f.Key, f.Value) != Unknown })
	give(timeKeys, RoleTime, func(f Field) bool { return f.Value != "" && (digit(f.Value[0]) || timeAt(f.Value, 0) > 0) })
	give(messageKeys, RoleMessage, func(Field) bool { return true })
}
