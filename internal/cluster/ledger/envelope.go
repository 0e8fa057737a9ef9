package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/hone-dev/hone/internal/base/problem"
)

// A document is JSON, as it is or in an envelope: a mark, a byte of flags, the id of the key if it is encrypted, and the data. Data is
// compressed before it is encrypted.
const (
	mark           = "hone\x1a"
	compressed     = 1
	encrypted      = 2
	compressFrom   = 32 << 10  // a smaller document stays legible, and costs no time
	compressHere   = 256 << 10 // the same for the head in a folder of this machine: to compress it takes longer than to write it
	largestContent = 256 << 20 // bounds what a damaged or hostile document makes of itself
)

var errDamaged = errors.New("its envelope is damaged")

// coders are made at the first use: they take memory.
var coders = sync.OnceValue(func() (c struct {
	to   *zstd.Encoder
	from *zstd.Decoder
},
) {
	// The options are valid. The window and the encoder's memory are small: it would keep 8 MB for the rest of the session.
	c.to, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	c.from, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largestContent))
	return c
})

// pack returns the document for a text, compressed from a size on, and encrypted with key unless that is nil.
func pack(text, key []byte, place string, from int) ([]byte, error) {
	var flags byte
	if len(text) >= from {
		flags |= compressed
		text = coders().to.EncodeAll(text, nil)
	}
	if key == nil {
		if flags == 0 {
			return text, nil
		}
		return append([]byte(mark+string(flags)), text...), nil
	}
	flags |= encrypted
	sealed, err := sealWith(key, text, place+string(flags))
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{[]byte(mark + string(flags)), keyID(key), sealed}, nil), nil
}

// unpack returns the text in a document. locked reports whether it is encrypted with the user's first key.
func (v vault) unpack(doc []byte, place, title string) (text []byte, locked bool, err error) {
	rest, packed := bytes.CutPrefix(doc, []byte(mark))
	if !packed {
		return doc, false, nil
	}
	if len(rest) == 0 {
		return nil, false, errDamaged
	}
	flags, rest := rest[0], rest[1:]
	if flags&encrypted != 0 {
		if len(rest) < keyIDSize {
			return nil, false, errDamaged
		}
		id := rest[:keyIDSize]
		key, err := v.find(id)
		if err != nil {
			return nil, false, err
		}
		if key == nil {
			return nil, false, v.noKey(id, title)
		}
		text, ok := openWith(key, rest[keyIDSize:], place+string(flags))
		if !ok {
			return nil, false, errDamaged
		}
		rest, locked = text, v.shared() && bytes.Equal(key, v.keys[0])
	}
	if flags&compressed != 0 {
		if rest, err = coders().from.DecodeAll(rest, nil); err != nil {
			return nil, false, fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	return rest, locked, nil
}

// noKey returns the problem of a document that none of the user's keys opens.
func (v vault) noKey(id []byte, title string) error {
	if !v.shared() {
		return problem.New(fmt.Sprintf("%s is encrypted", title), fmt.Sprintf("set %s or %s to its key, which has the id %x", KeyVariable, KeyFileVariable, id)).See("state")
	}
	return problem.New(fmt.Sprintf("%s is encrypted with another key than %s has", title, KeyVariable),
		fmt.Sprintf("add the key with the id %x to %s, after the new one; nothing was changed", id, KeyVariable)).See("state")
}
