package s3

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxNumber bounds the numbers of a document's versions.
const maxNumber = 9_999_999_999

// mark divides the name of a document and the number in a key. No name has it, and no store treats it in a special way.
const mark = "!"

// object is an object that has a version of a document.
type object struct {
	name     string
	number   int64
	size     int64
	modified time.Time
}

// exists reports whether an object has data: an empty one says that the document was deleted, and the zero object that there never was
// one.
func (o object) exists() bool { return o.size > 0 }

func keyPrefix(name string) string { return name + mark }

// key returns the key of a version. Stores list keys in order: the number is inverted, so that the newest version comes first.
func key(name string, number int64) string {
	return fmt.Sprintf("%s%010d", keyPrefix(name), maxNumber-number)
}

// parseKey is the reverse of key; ok is false for the key of a foreign object.
func parseKey(key string) (name string, number int64, ok bool) {
	name, digits, found := strings.Cut(key, mark)
	inverted, err := strconv.ParseInt(digits, 10, 64)
	if !found || len(digits) != 10 || err != nil {
		return "", 0, false
	}
	return name, maxNumber - inverted, true
}

// framed puts a line break before the data, so that no document is an empty object.
func framed(data []byte) []byte { return append([]byte("\n"), data...) }
