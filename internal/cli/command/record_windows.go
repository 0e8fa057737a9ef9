package command

// record is described for Unix. A console here is restored by the system.
type record struct{}

func keepRecord(string) *record { return nil }

func (*record) drop() {}

func repair(string) string { return "" }

func sane(int) error { return nil }
