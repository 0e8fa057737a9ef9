package api

// Examination is what "hone doctor -o json" prints: what hone finds on this machine and in the cluster.
type Examination struct {
	// Version is that of hone.
	Version string `json:"version"`
	// Faults counts the findings that have one.
	Faults int `json:"faults"`
	// Sections are the findings by what they are about.
	Sections []FindingSection `json:"sections"`
}

// FindingSection is the findings about one thing.
type FindingSection struct {
	// Name says what it is: "Kubernetes".
	Name string `json:"name"`
	// Findings are in the order in which people read them.
	Findings []Finding `json:"findings"`
}

// Finding is one thing that was looked at.
type Finding struct {
	// Name says what it is: "context".
	Name string `json:"name"`
	// Value is what was found; empty where Fault says why nothing was.
	Value string `json:"value,omitempty"`
	// Fault is what is wrong, empty when nothing is. Mend is what to do about it.
	Fault string `json:"fault,omitempty"`
	Mend  string `json:"mend,omitempty"`
}
