package client

import (
	"context"
	"net/http"
	"time"

	"github.com/hone-dev/hone/pkg/api"
)

// Test has the session run the tests that have not passed with everything that was saved before the call, waits until each has a verdict, or
// the time is up, and returns the verdicts. awaits is called with the report whenever it names other things to wait for than before.
func (c *Client) Test(ctx context.Context, req api.TestRequest, limit time.Duration, awaits func(api.TestReport)) (rep api.TestReport, err error) {
	end := time.Now().Add(limit)
	for told := ""; ; {
		left := time.Until(end)
		req.WithinMs = api.Milliseconds(max(min(left, settlePiece), 0).Seconds() * 1000)
		rep = api.TestReport{}
		if err := c.askWithin(ctx, settlePiece+timeout, http.MethodPost, "/api/test", req, &rep); err != nil {
			return rep, err
		}
		if rep.Result != api.TestWaiting || left <= settlePiece {
			return rep, nil
		}
		now := rep.Text
		req.Asked, req.Names = rep.Asked, nil
		for _, t := range rep.Tests {
			req.Names = append(req.Names, t.Name)
			if t.Result == api.TestWaiting {
				now += "\n" + t.Name + " " + t.Text
			}
		}
		if now != told {
			told = now
			awaits(rep)
		}
	}
}
