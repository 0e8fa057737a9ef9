package buildcontrol

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// HoldReason is why a resource is not updated now.
type HoldReason string

// The reasons, as they appear to scripts.
const (
	HoldTiltfile      HoldReason = "tiltfile-reload"
	HoldLocal         HoldReason = "waiting-for-local"
	HoldUnparallel    HoldReason = "is-unparallelizable-local"
	HoldUncategorized HoldReason = "waiting-for-uncategorized"
	HoldComponent     HoldReason = "building-component"
	HoldDep           HoldReason = "waiting-for-dep"
	HoldNewest        HoldReason = "waiting-for-newest"
	HoldCluster       HoldReason = "waiting-for-cluster"
	HoldEngine        HoldReason = "waiting-for-engine"
	HoldDeploy        HoldReason = "waiting-for-deploy"
	HoldBehind        HoldReason = "waiting-for-container"
	HoldSlot          HoldReason = "waiting-for-slot"
	HoldManual        HoldReason = "manual"
	HoldPaused        HoldReason = "paused"
	HoldDeployLock    HoldReason = "waiting-for-turn"
	HoldConfirm       HoldReason = "waiting-for-confirmation"
	HoldTeardown      HoldReason = "tearing-down"
	HoldBuilding      HoldReason = "building"
	HoldCircle        HoldReason = "pausing-in-loop"
)

// Hold describes why a resource waits, and for which resources. Detail, unless empty, gives the reason more precisely. Built is set if its
// images are built already.
type Hold struct {
	Reason HoldReason
	On     []model.ManifestName
	Detail string
	Built  bool
}

// Equal reports whether two holds say the same.
func (h Hold) Equal(o Hold) bool {
	if h.Reason != o.Reason || h.Detail != o.Detail {
		return false
	}
	return h.Built == o.Built && slices.Equal(h.On, o.On)
}

// reasons has a row for each HoldReason. ON in its words stands for the resources that are waited for.
var reasons = map[HoldReason]struct {
	words string
	// asks is set if the wait concerns only the changed files, and lasts until a person or another process acts.
	asks bool
	// other stands for ON where the Detail says what is waited for, and is empty.
	other string
}{
	HoldTiltfile:      {words: "waits for the Tiltfile"},
	HoldLocal:         {words: "waits for ON to finish: local commands run one at a time"},
	HoldUnparallel:    {words: "waits for ON to finish: local commands run one at a time"},
	HoldUncategorized: {words: "waits for ON to be applied"},
	HoldComponent:     {words: "waits for ON, which builds the same image"},
	HoldDep:           {words: "waits for ON to be ready"},
	HoldNewest:        {words: "waits for ON to run the newest files"},
	HoldCluster:       {words: "waits for ON to answer", other: "the cluster"},
	HoldEngine:        {words: "waits for ON to answer", other: "the container engine"},
	HoldDeploy:        {words: "waits for ON", other: "its containers to start"},
	HoldBehind:        {words: "waits for its containers to take the last change"},
	HoldSlot:          {words: "waits for a free slot: ON updating"},
	HoldManual:        {words: "has changes, waits for a trigger", asks: true},
	HoldPaused:        {words: "waits while the session is paused", asks: true},
	HoldConfirm:       {words: "waits for you to confirm it", asks: true},
	HoldDeployLock:    {words: "waits while something else deploys the project", asks: true},
	HoldTeardown:      {words: "is being removed"},
	HoldBuilding:      {words: "is being updated"},
	HoldCircle:        {words: "pauses, since its own updates change what it depends on"},
}

// Asks reports whether the wait concerns only the changed files, and lasts until a person or another process acts.
func (r HoldReason) Asks() bool { return reasons[r].asks }

// String is the hold in words for people: "waits for api to be ready".
func (h Hold) String() string {
	names := make([]string, len(h.On))
	for i, n := range h.On {
		names[i] = string(n)
	}
	on := strings.Join(names, ", ")
	if other := reasons[h.Reason].other; other != "" {
		on = cmp.Or(h.Detail, other)
	}
	words := reasons[h.Reason].words
	if h.Built {
		words = "built, " + words
	}
	return strings.ReplaceAll(words, "ON", on)
}
