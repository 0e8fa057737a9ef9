package protocol

func (*Hello) kind() kind     { return kindHello }
func (*Failed) kind() kind    { return kindFailed }
func (*Begin) kind() kind     { return kindBegin }
func (*Put) kind() kind       { return kindPut }
func (*Data) kind() kind      { return kindData }
func (*Delete) kind() kind    { return kindDelete }
func (*Commit) kind() kind    { return kindCommit }
func (*Abort) kind() kind     { return kindAbort }
func (*Applied) kind() kind   { return kindApplied }
func (*List) kind() kind      { return kindList }
func (*Entry) kind() kind     { return kindEntry }
func (*Listed) kind() kind    { return kindListed }
func (*Run) kind() kind       { return kindRun }
func (*Output) kind() kind    { return kindOutput }
func (*Exited) kind() kind    { return kindExited }
func (*Kill) kind() kind      { return kindKill }
func (*Restart) kind() kind   { return kindRestart }
func (*Restarted) kind() kind { return kindRestarted }
func (*Process) kind() kind   { return kindProcess }
func (*Ping) kind() kind      { return kindPing }
func (*Pong) kind() kind      { return kindPong }
func (*Copy) kind() kind      { return kindCopy }
func (*Packed) kind() kind    { return kindPacked }
func (*Patch) kind() kind     { return kindPatch }
func (*Step) kind() kind      { return kindStep }
func (*Done) kind() kind      { return kindDone }
func (*Leave) kind() kind     { return kindLeave }

func (m *Hello) encode(e *encoder) {
	e.text(m.Program)
	e.places(m.Places)
	e.number(m.UID)
	e.flag(m.Supervised)
	e.text(m.Client)
	e.numbers(m.Sequence, m.Run)
}

func (m *Failed) encode(e *encoder) { e.text(m.Text) }
func (m *Begin) encode(e *encoder)  { e.numbers(m.ID, m.Files, m.Bytes) }

func (m *Put) encode(e *encoder) {
	e.text(m.Path)
	e.numbers(uint64(m.Kind), uint64(m.Mode), uint64(m.ModTime))
	e.flag(m.Owner != nil)
	if m.Owner != nil {
		e.numbers(m.Owner.UID, m.Owner.GID)
	}
	e.text(m.Base)
	e.number(m.Size)
	e.sum(m.Sum)
	e.bytes(m.Data)
}

func (m *Copy) encode(e *encoder) { e.numbers(m.Offset, m.Size) }
func (m *Patch) encode(e *encoder) {
	e.numbers(m.Offset, m.Size)
	e.bytes(m.Edits)
}

func (m *Packed) encode(e *encoder) { e.bytes(m.Data) }
func (m *Data) encode(e *encoder)   { e.bytes(m.Data) }
func (m *Delete) encode(e *encoder) { e.text(m.Path) }
func (m *Commit) encode(e *encoder) { e.number(m.ID) }
func (m *Abort) encode(e *encoder)  { e.number(m.ID) }

func (m *Applied) encode(e *encoder) {
	e.numbers(m.ID, m.Changed, m.Nanos)
	e.faults(m.Faults)
}

func (m *List) encode(e *encoder) {
	e.number(m.ID)
	e.places(m.Places)
	e.number(m.Chunks)
}

func (m *Entry) encode(e *encoder) {
	e.number(m.ID)
	e.text(m.Path)
	e.numbers(uint64(m.Kind), uint64(m.Mode), m.Size)
	e.sum(m.Sum)
	e.bytes(m.Chunks)
}

func (m *Listed) encode(e *encoder) {
	e.number(m.ID)
	e.faults(m.Faults)
}

func (m *Run) encode(e *encoder) {
	e.number(m.ID)
	e.texts(m.Argv)
	e.text(m.Dir)
	e.texts(m.Env)
	e.number(m.After)
}

func (m *Step) encode(e *encoder) { e.numbers(m.Sequence, m.Number) }
func (m *Done) encode(e *encoder) { e.number(m.Sequence) }
func (*Leave) encode(*encoder)    {}

func (m *Output) encode(e *encoder) {
	e.number(m.ID)
	e.bytes(m.Data)
}

func (m *Exited) encode(e *encoder) {
	e.numbers(m.ID, m.Code)
	e.text(m.Text)
}

func (m *Kill) encode(e *encoder)    { e.number(m.ID) }
func (m *Restart) encode(e *encoder) { e.numbers(m.ID, m.GraceNanos, m.After) }

func (m *Restarted) encode(e *encoder) {
	e.numbers(m.ID, m.PID, m.Code)
	e.text(m.Text)
}

func (m *Process) encode(e *encoder) {
	e.flag(m.Running)
	e.numbers(m.PID, m.Code, m.Starts, m.Crashes, m.AgainNanos)
	e.flag(m.Ending)
}

func (m *Ping) encode(e *encoder) { e.number(m.ID) }
func (m *Pong) encode(e *encoder) { e.number(m.ID) }

// decode reads a payload. Bytes after the last field belong to a later version's fields and are skipped.
func decode(k kind, payload []byte) (Message, error) {
	d := &decoder{b: payload}
	m := d.message(k)
	if m == nil || d.bad {
		return nil, ErrMalformed
	}
	return m, nil
}

func (d *decoder) message(k kind) Message {
	switch k {
	case kindHello:
		return &Hello{Program: d.text(), Places: d.places(), UID: d.number(), Supervised: d.flag(), Client: d.text(), Sequence: d.number(), Run: d.number()}
	case kindFailed:
		return &Failed{d.text()}
	case kindBegin:
		return &Begin{d.number(), d.number(), d.number()}
	case kindPut:
		return d.put()
	case kindData:
		return &Data{d.bytes()}
	case kindCopy:
		return &Copy{d.number(), d.number()}
	case kindPatch:
		return &Patch{d.number(), d.number(), d.bytes()}
	case kindPacked:
		return &Packed{d.bytes()}
	case kindDelete:
		return &Delete{d.text()}
	case kindCommit:
		return &Commit{d.number()}
	case kindAbort:
		return &Abort{d.number()}
	case kindApplied:
		return &Applied{d.number(), d.number(), d.number(), d.faults()}
	case kindList:
		return &List{d.number(), d.places(), d.number()}
	case kindEntry:
		return &Entry{d.number(), d.text(), FileKind(d.number()), uint32(d.number()), d.number(), d.sum(), d.bytes()}
	case kindListed:
		return &Listed{d.number(), d.faults()}
	default: // the others are about processes
		return d.process(k)
	}
}

// process decodes the messages about processes.
func (d *decoder) process(k kind) Message {
	switch k {
	case kindRun:
		return &Run{d.number(), d.texts(), d.text(), d.texts(), d.number()}
	case kindStep:
		return &Step{d.number(), d.number()}
	case kindDone:
		return &Done{d.number()}
	case kindLeave:
		return &Leave{}
	case kindOutput:
		return &Output{d.number(), d.bytes()}
	case kindExited:
		return &Exited{d.number(), d.number(), d.text()}
	case kindKill:
		return &Kill{d.number()}
	case kindRestart:
		return &Restart{d.number(), d.number(), d.number()}
	case kindRestarted:
		return &Restarted{d.number(), d.number(), d.number(), d.text()}
	case kindProcess:
		return &Process{d.flag(), d.number(), d.number(), d.number(), d.number(), d.number(), d.flag()}
	case kindPing:
		return &Ping{d.number()}
	case kindPong:
		return &Pong{d.number()}
	default: // unknown: message knows the others
		return nil
	}
}

func (d *decoder) put() Message {
	m := &Put{Path: d.text(), Kind: FileKind(d.number()), Mode: uint32(d.number()), ModTime: int64(d.number())}
	if d.flag() {
		m.Owner = &Owner{d.number(), d.number()}
	}
	m.Base, m.Size, m.Sum, m.Data = d.text(), d.number(), d.sum(), d.bytes()
	return m
}

func (e *encoder) numbers(list ...uint64) {
	for _, n := range list {
		e.number(n)
	}
}

func (e *encoder) flag(on bool) {
	if on {
		e.number(1)
	} else {
		e.number(0)
	}
}

func (d *decoder) flag() bool { return d.number() != 0 }

func (e *encoder) places(list []Place) {
	e.number(uint64(len(list)))
	for _, p := range list {
		e.text(p.Dir)
		e.text(p.Name)
	}
}

func (d *decoder) places() (list []Place) {
	for range d.count() {
		list = append(list, Place{d.text(), d.text()})
	}
	return list
}

func (e *encoder) faults(list []Fault) {
	e.number(uint64(len(list)))
	for _, f := range list {
		e.text(f.Path)
		e.flag(f.Staged)
		e.number(f.Errno)
		e.text(f.Text)
	}
}

func (d *decoder) faults() (list []Fault) {
	for range d.count() {
		list = append(list, Fault{d.text(), d.flag(), d.number(), d.text()})
	}
	return list
}

// count reads how many elements follow; each takes at least one byte, so there cannot be more elements than bytes.
func (d *decoder) count() uint64 {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return 0
	}
	return n
}
