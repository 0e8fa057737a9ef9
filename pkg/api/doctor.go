package api

// Examination is the output of "hone doctor -o json": what hone finds on this machine and in the cluster.
type Examination struct {
	// Version is the version of hone.
	Version string `json:"version"`
	// Faults is the number of findings with a fault.
	Faults int `json:"faults"`
	// Sections are the findings, grouped by subject.
	Sections []FindingSection `json:"sections"`
}

// FindingSection is a group of findings about one subject.
type FindingSection struct {
	// Name is the name of the subject, such as "Kubernetes".
	Name string `json:"name"`
	// Findings are the findings in display order.
	Findings []Finding `json:"findings"`
}

// Finding is the result of one check.
type Finding struct {
	// Name is the name of the checked item, such as "context".
	Name string `json:"name"`
	// Value is what was found; empty where Fault explains why nothing was found.
	Value string `json:"value,omitempty"`
	// Fault is what is wrong; empty when nothing is. Mend is what to do about it.
	Fault string `json:"fault,omitempty"`
	Mend  string `json:"mend,omitempty"`
}
