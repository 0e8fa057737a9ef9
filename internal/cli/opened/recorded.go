package opened

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/cluster/deploy"
)

// Recorded returns everything that the ledgers of the project record: in its clusters, if there is a kubeconfig, and on this machine. A
// cluster that the Tiltfile declares, or has declared, and that does not answer is left out, with a warning.
func (p *Project) Recorded(ctx context.Context) ([]deploy.Recorded, error) {
	var out []deploy.Recorded
	if p.Known.Context != "" {
		parts, err := p.Everywhere()
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			more, err := part.recordedHere(ctx)
			if err != nil && part == p {
				return nil, err
			}
			if err != nil {
				part.LeaveOut(err)
			}
			out = append(out, more...)
		}
	}
	downs, err := p.DownCommands(ctx)
	if err != nil {
		return nil, err
	}
	here, err := downs.Ledger()
	if err != nil {
		return nil, err
	}
	more, err := deploy.Memory{Ledger: here}.Recorded()
	for i := range more {
		more[i].Local = true
	}
	return append(out, more...), err
}

// recordedHere returns the records in the ledger of the project's cluster.
func (p *Project) recordedHere(ctx context.Context) ([]deploy.Recorded, error) {
	cluster, err := p.Connect(ctx)
	if err != nil {
		return nil, err
	}
	memory, err := cluster.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	out, err := memory.Recorded()
	for i := range out {
		out[i].Cluster = p.On()
	}
	return out, err
}

// Objects are the objects that the words of a command line may name.
type Objects struct {
	All []deploy.Recorded
	// Missing says why a word names none: "is not recorded for this project"; Mend says what to do.
	Missing, Mend string
}

// Records are the records of a project, to choose from.
func Records(all []deploy.Recorded) Objects {
	return Objects{all, "is not recorded for this project", "hone get records lists the recorded objects"}
}

// Choose returns the objects that words name, as KIND/NAME, where the kind may have its API group: deployment.apps/web. The context of a
// cluster that the Tiltfile declares may stand before it: eu:deployment/web. namespace, unless
// empty, is the namespace of those that are in one. It refuses a word that names none, and one that names several.
func (o Objects) Choose(words []string, namespace string) (out []deploy.Recorded, err error) {
	for _, word := range words {
		var found []deploy.Recorded
		var names []string
		for _, r := range o.All {
			names = append(names, r.Title())
			if isNamed(r, word) && isIn(r, namespace) {
				found = append(found, r)
			}
		}
		switch {
		case len(found) == 1:
			out = append(out, found[0])
		case len(found) > 1:
			var places []string
			for _, r := range found {
				places = append(places, inCluster(r)+r.Title()+" in "+r.Namespace)
			}
			mend := "choose one with --namespace"
			if found[0].Cluster != found[len(found)-1].Cluster {
				mend = "name its cluster: " + inCluster(found[len(found)-1]) + found[len(found)-1].Title()
			}
			return nil, problem.New(fmt.Sprintf("%s names more than one object: %s", word, strings.Join(places, ", ")), mend)
		case !strings.Contains(word, "/"):
			return nil, problem.New(fmt.Sprintf("%q names no object", word), "name it as KIND/NAME, for example configmap/"+word)
		default:
			return nil, problem.New(within(word, namespace)+" "+o.Missing, suggest.Mend(word, names, o.Mend)).See("state")
		}
	}
	return out, nil
}

// inCluster is the beginning of a word that names an object in a declared cluster; empty for the project's own.
func inCluster(r deploy.Recorded) string {
	if r.Cluster == "" {
		return ""
	}
	return r.Cluster + ":"
}

// isNamed reports whether a word names an object: with the API group of its kind, or without it.
func isNamed(r deploy.Recorded, word string) bool {
	if rest, named := strings.CutPrefix(word, inCluster(r)); named {
		word = rest
	}
	return strings.EqualFold(r.Title(), word) || strings.EqualFold(r.Kind+"/"+r.Name, word)
}

// isIn reports whether an object is in a namespace, in none, or anywhere if the namespace is empty.
func isIn(r deploy.Recorded, namespace string) bool {
	return slices.Contains([]string{"", r.Namespace}, namespace) || r.Namespace == ""
}

func within(word, namespace string) string {
	if namespace == "" {
		return word
	}
	return word + " in namespace " + namespace
}
