// Package protocol is the language between hone and the synclet: frames over one stream in each direction, and the
// messages in them.
//
// It uses nothing but the standard library, and little of that, because it is part of the program that goes into
// containers. The text below is the specification; both sides are written from it.
//
// # Stream
//
// The synclet begins with Preamble; whatever a shell or a runtime says before it is skipped by the client. From then on
// each direction is a sequence of frames:
//
//	0  uint32  length of the payload, at most MaxPayload
//	4  uint8   type of the message
//	5  uint8   version of the protocol
//	6  uint16  zero
//	8  uint32  CRC-32C of the first eight bytes and the payload
//	12         payload
//
// Numbers are little-endian. In payloads, numbers are unsigned varints, and strings and byte strings are preceded by
// their length. A frame that does not fit this, or whose sum is wrong, ends the stream: nothing can be trusted after it.
//
// # Conversation
//
// The client speaks first after the preamble: Hello names its version and the places that may be written. The synclet
// answers with Hello, or with Failed when it speaks another version.
//
// An update is Begin, then for each file Put and as many Data as its content needs, Delete for what goes, and Commit. The
// synclet stages what it is given and changes nothing before Commit; it answers with one Applied for each Commit. A
// stream that ends before Commit leaves everything as it was. Abort forgets what was staged.
//
// List asks for the content of places, by hash; Entry messages come back, then Listed. Run starts a command; its Output
// comes as it is written, then Exited. Kill ends it. Restart asks the supervisor for a new process and is answered by
// Restarted. Where there is a supervisor, Process tells of what it runs, unasked: soon after Hello, and whenever a process
// starts or ends. Ping is answered by Pong, also within an update. While the synclet carries out a Commit or a List that
// takes long, it sends a Pong with the id 0 every few seconds; a client uses no id 0 for what it waits for.
//
// The client's Hello names it. A synclet that is greeted ends those in its container that the same client greeted before,
// with what they run: the client has given them up, and one that was stopped must not carry out later what it still holds.
//
// Requests carry an id that their answers repeat, so that several can be under way; the messages of one update are not
// mixed with those of another.
package protocol
