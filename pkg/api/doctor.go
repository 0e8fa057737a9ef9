package api

// Examination is the output of "hone doctor -o json": the findings about this machine and the cluster.
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
	// Value is the result of the check; empty where Fault explains why there is none.
	Value string `json:"value,omitempty"`
	// Fault is the fault that the check found; empty if there is none. Mend tells how to fix it.
	Fault string `json:"fault,omitempty"`
	Mend  string `json:"mend,omitempty"`
}
