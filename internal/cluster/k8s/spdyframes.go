package k8s

// spdyFrames puts the pieces of SPDY frames together.
type spdyFrames struct {
	buf   []byte
	taken int // bytes of buf that add has returned
}

// spdyHeader is the size in bytes of a frame's header: its last three bytes are the length of the rest of the frame (SPDY/3.1,
// 2.2).
const spdyHeader = 8

// add adds a piece and returns the frames that are complete with it, until the next call.
func (f *spdyFrames) add(p []byte) []byte {
	f.buf = append(f.buf[:copy(f.buf, f.buf[f.taken:])], p...)
	f.taken = 0
	for {
		frame := f.buf[f.taken:]
		if len(frame) < spdyHeader {
			return f.buf[:f.taken]
		}
		size := spdyHeader + int(frame[5])<<16 + int(frame[6])<<8 + int(frame[7])
		if len(frame) < size {
			return f.buf[:f.taken]
		}
		f.taken += size
	}
}
