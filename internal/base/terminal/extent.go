package terminal

// Extent is the size of a terminal in characters.
type Extent struct{ Columns, Rows int }
