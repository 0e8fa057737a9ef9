// Package protocol is the language between hone and the synclet: frames over one stream in each direction, and the
// messages in them.
//
// It uses only the standard library, and little of that, because it is part of the program that goes into containers.
// The text below is the specification; both sides are written from it.
//
// # Stream
//
// The synclet begins with Preamble; the client skips any output of a shell or a runtime before it. From then on each
// direction is a sequence of frames:
//
//	0  uint32  length of the payload, at most MaxPayload
//	4  uint8   type of the message
//	5  uint8   version of the protocol
//	6  uint16  zero
//	8  uint32  CRC-32C of the first eight bytes and the payload
//	12         payload
//
// Numbers are little-endian. In payloads, numbers are unsigned varints, and strings and byte strings are preceded by
// their length. A malformed frame, or one with a wrong sum, ends the stream: nothing can be trusted after it.
//
// Packed contains frames, compressed: the frames that a client sends in one go travel in it where that takes less time. They mean
// the same as without it.
//
// # Conversation
//
// The client speaks first after the preamble: Hello names its version and the places that may be written. The synclet
// answers with Hello, or with Failed when it speaks another version.
//
// An update is Begin, then for each file Put and as many Data as its content needs, Delete for each path to remove, and
// Commit. The synclet stages the content and changes nothing before Commit; it answers with one Applied for each Commit.
// A stream that ends before Commit leaves everything as it was. Abort discards the staged changes.
//
// Content that the container has already need not travel: Copy takes a part of it from the file that Put names as its base, in most
// cases the old file at the same path, and Patch takes a part in which a few bytes differ. However a file was put together, the
// synclet compares the sum of the whole with the announced one before anything is changed.
//
// List requests the content of places, by hash, and on request by the hashes of its chunks; the answer is Entry messages,
// then Listed. Run starts a command; its Output is sent as it is written, then Exited. A client need not wait with Run and
// Restart: with After they begin when the request before them has succeeded. Kill ends it. Restart requests a new process from the supervisor; the
// answer is Restarted. If there is a supervisor, it sends the state of its process in Process messages without a
// request: soon after Hello, and whenever a process starts or ends. The answer to Ping is Pong, even within an update.
// While the synclet carries out a Commit or a List that takes long, it sends a Pong with the id 0 every few seconds; a
// client does not use the id 0 for requests.
//
// A connection may be lost after a command has run and before the client knows. Step therefore gives a Run or Restart a name; the
// synclet notes outside of its memory how each such step ended, and in a later conversation answers a repeated one from its notes. Done
// lets it forget them.
//
// A client that ends the conversation for good says Leave. A synclet whose stream ends without it expects its client back: it ends the
// conversation, and waits for a while, so that the client can start the same program in the container once more without sending it. The
// supervisor receives Leave as well: for as long, it keeps the container of a crashed process for a client that was lost.
//
// The client's Hello names it. A synclet that is greeted ends those in its container that the same client greeted
// before, with the commands that they run: the client has abandoned them, and one that was stopped must not carry out
// its pending work later.
//
// Requests carry an id that their answers repeat, so that several can run at a time; the messages of one update are not
// mixed with messages of another.
package protocol
