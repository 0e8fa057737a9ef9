package protocol

// Message is one of the types below.
type Message interface {
	kind() kind
	encode(*encoder)
}

// kind is the number of a message's type on the wire. Numbers are never reused.
type kind uint8

const (
	kindHello kind = iota + 1
	kindFailed
	kindBegin
	kindPut
	kindData
	kindDelete
	kindCommit
	kindAbort
	kindApplied
	kindList
	kindEntry
	kindListed
	kindRun
	kindOutput
	kindExited
	kindKill
	kindRestart
	kindRestarted
	kindProcess
	kindPing
	kindPong
	kindCopy
	kindPacked
	kindPatch
	kindStep
	kindDone
	kindLeave
)

// Place is a part of the file system that may be written: a folder with everything below it or, with Name, one entry of
// that folder.
type Place struct {
	// Dir is a clean absolute path. It need not exist.
	Dir  string
	Name string
}

// Hello opens the conversation, from both sides. The client fills in only Places and Client.
type Hello struct {
	// Program identifies the build of the synclet.
	Program string
	// Places are all that may be listed and written.
	Places []Place
	// UID is the user that the synclet runs as.
	UID uint64
	// Supervised means that the container's process runs under a supervisor, so that Restart works.
	Supervised bool
	// Client identifies the client and the container, in at most ten letters and digits: a synclet that it greets ends
	// those that it greeted before. Empty leaves them running.
	Client string
	// Sequence is the client's newest sequence of which a step was begun, so that its files are in place, and for which Done was not
	// received; zero if there is none.
	Sequence uint64
	// Run identifies the run of the container that the synclet is in; zero if that is unknown.
	Run uint64
}

// Failed is the reason why the synclet ends the conversation.
type Failed struct{ Text string }

// Begin starts an update. Files and Bytes announce its size, so that the best way to write it can be chosen.
type Begin struct {
	ID    uint64
	Files uint64
	Bytes uint64
}

// FileKind is the kind of an entry of the file system.
type FileKind uint8

// The kinds of entries.
const (
	KindFile FileKind = iota
	KindDir
	KindLink
)

// Put announces a file, folder or symbolic link, with the first part of its content.
type Put struct {
	// Path is clean and absolute.
	Path string
	Kind FileKind
	// Mode holds the permission bits.
	Mode uint32
	// ModTime is in nanoseconds since 1970; zero leaves it to the clock.
	ModTime int64
	// Owner, unless nil, becomes the owner. Otherwise an entry that is replaced keeps its owner.
	Owner *Owner
	// Base is the path of a file in the container that Copy takes content from; empty if the content comes with the update.
	Base string
	// Size and Sum describe the whole content. A link's content is its target.
	Size uint64
	Sum  Sum
	Data []byte
}

// Owner is a user and a group.
type Owner struct{ UID, GID uint64 }

// Data is the next part of the content of the last Put.
type Data struct{ Data []byte }

// Copy is the next part of the content of the last Put: the content of its Base, as it is now, from Offset on. If the Base is no
// longer as the client believes, the sum of the whole differs.
type Copy struct{ Offset, Size uint64 }

// Hole is the Offset of a Copy that is zeros, and needs no Base.
const Hole = 1<<64 - 1

// Patch is like Copy, with differences: Edits are made by package patch. Size is at most MaxData.
type Patch struct {
	Offset, Size uint64
	Edits        []byte
}

// Packed is a sequence of frames, compressed as RFC 1951 (DEFLATE) says. They may have been sent one by one as well.
type Packed struct{ Data []byte }

// Delete removes an entry. A missing entry counts as removed. A folder that is not empty, a mount point, and an entry
// that a symbolic link leads to also count as removed, but stay.
type Delete struct{ Path string }

// Commit carries out the changes that were staged since Begin.
type Commit struct{ ID uint64 }

// Abort discards the changes that were staged since Begin.
type Abort struct{ ID uint64 }

// Applied answers Commit. Without faults everything is in place. With faults that have Staged set, nothing has been
// changed; otherwise only the paths in them have failed.
type Applied struct {
	ID      uint64
	Changed uint64
	// Nanos is the time that carrying it out took, from Commit on.
	Nanos  uint64
	Faults []Fault
}

// Fault is a failed operation on a path.
type Fault struct {
	Path string
	// Staged means that it happened before anything was changed.
	Staged bool
	// Errno is the system's number for the reason, zero if there is none.
	Errno uint64
	Text  string
}

// The texts of faults that are a refusal: no other way may do a thing that the synclet refuses.
const (
	FaultEscapes = "a symbolic link leads out of the sync's destination"
	FaultOutside = "the path is outside of all sync destinations"
)

// List requests the entries of places. A place for one path is that entry alone, also if it is a folder.
type List struct {
	ID     uint64
	Places []Place
	// Chunks asks for the chunks of files that are at least so large, in bytes; zero asks for none.
	Chunks uint64
}

// Entry is an entry in answer to List. Folders come before their content.
type Entry struct {
	ID   uint64
	Path string
	Kind FileKind
	Mode uint32
	Size uint64
	Sum  Sum
	// Chunks is the list of the content's chunks, as package chunk writes it.
	Chunks []byte
}

// Listed ends the answer to List. Faults name the entries that could not be read.
type Listed struct {
	ID     uint64
	Faults []Fault
}

// Run starts a command. Its input is empty.
type Run struct {
	ID   uint64
	Argv []string
	// Dir is the working folder; empty for the container's own.
	Dir string
	// Env is added to the container's environment.
	Env []string
	// After is the id of an update or command that has to succeed first: the command is not started before. Zero means none.
	After uint64
}

// Step makes the next Run or Restart a step of a sequence. A step that was carried out before, in an earlier conversation of the same
// client with this container, is not repeated, but answered as it was then: only the answer was lost. The synclet notes how
// commands have ended; the supervisor, which receives the step as well, remembers the restarts.
type Step struct {
	// Sequence is not zero, and no other sequence of the client has it.
	Sequence uint64
	// Number counts the steps of the sequence from zero.
	Number uint64
}

// Done means that the client has the answers to all steps of a sequence. It is not answered.
type Done struct{ Sequence uint64 }

// Leave ends the conversation. The client does not come back.
type Leave struct{}

// Output is output of a command: its standard output and error, in the order in which it wrote them.
type Output struct {
	ID   uint64
	Data []byte
}

// Exited ends the answer to Run. Code is 126 or 127 with Text if the command could not be started, 128 plus the signal's number if
// a signal ended it, and ExitSkipped if the request before it has failed. A Text with the code 0 is a note for the
// user.
type Exited struct {
	ID   uint64
	Code uint64
	Text string
}

// Kill ends a command and all its descendants.
type Kill struct{ ID uint64 }

// Restart requests a new process of the container.
type Restart struct {
	ID uint64
	// GraceNanos is the time that the old one has between SIGTERM and SIGKILL.
	GraceNanos uint64
	// After is as in Run.
	After uint64
}

// Restarted answers Restart. Code is one of RestartDone and its like; Text is why it failed, empty if it did not.
type Restarted struct {
	ID   uint64
	PID  uint64
	Code uint64
	Text string
}

// Process is the state of the container's process, sent without a request at the beginning and whenever it ends or
// starts.
type Process struct {
	Running bool
	PID     uint64
	// Code is the exit code of the last one, as in Exited.
	Code uint64
	// Starts counts the starts of the process.
	Starts uint64
	// Crashes counts how often in a row it ended on its own soon after a start, with an exit code other than 0. It is
	// zero once a process keeps running.
	Crashes uint64
	// AgainNanos is, for a process that does not run, the time between its end and its restart without a request.
	AgainNanos uint64
	// Ending means that the container ends with the process: the container has received a signal to end, or the process
	// has finished its work.
	Ending bool
}

// Ping requests a Pong.
type Ping struct{ ID uint64 }

// Pong answers Ping.
type Pong struct{ ID uint64 }
