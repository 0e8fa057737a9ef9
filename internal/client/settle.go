package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hone-dev/hone/pkg/api"
)

const (
	// settlePiece is the time that one request waits, so that the caller hears meanwhile of the things that are awaited.
	settlePiece = timeout / 5
	// answerPause is the time between two requests to an address that does not answer as expected.
	answerPause = timeout / 100
	// mostAnswer is the size of the part of an answer that is read.
	mostAnswer = 1 << 16
)

// Settle returns once the session knows every change that was made so far to the files that it watches, and reports whether it does.
func (c *Client) Settle(ctx context.Context) (known bool, err error) {
	var answer api.Settled
	err = c.askWithin(ctx, settleTimeout, http.MethodPost, "/api/settle", struct{}{}, &answer)
	return answer.Known, err
}

// Settling asks whether everything that was saved before it is live, and works.
type Settling struct {
	// Request is the question; Wait sets its WithinMs.
	Request api.SettleRequest
	// Timeout is the time after which Wait gives up.
	Timeout time.Duration
	// Answers are addresses that must answer, once everything is live.
	Answers []Expected
	// Awaits, unless nil, is called with the report whenever it names other things to wait for than before.
	Awaits func(api.SettleReport)
}

// Expected is an address with the status code of its answer; 0 means one below 400.
type Expected struct {
	URL    string
	Status int
}

// ParseExpected reads an address, with the status code after it where one is expected: "http://localhost:8080/health=204".
func ParseExpected(text string) (e Expected, err error) {
	e.URL = text
	if at := strings.LastIndexByte(text, '='); at >= 0 {
		if n, err := strconv.Atoi(text[at+1:]); err == nil && n >= 100 && n < 600 {
			e.URL, e.Status = text[:at], n
		}
	}
	if !strings.HasPrefix(e.URL, "http://") && !strings.HasPrefix(e.URL, "https://") {
		return e, fmt.Errorf("%q is no address: it begins with http:// or https://", text)
	}
	return e, nil
}

// SettleReport waits until the answer is certain, or the time is up, and returns it.
func (c *Client) SettleReport(ctx context.Context, s Settling) (rep api.SettleReport, err error) {
	end := time.Now().Add(s.Timeout)
	for told := ""; ; {
		left := time.Until(end)
		s.Request.WithinMs = api.Milliseconds(max(min(left, settlePiece), 0).Seconds() * 1000)
		if err := c.askWithin(ctx, settlePiece+timeout, http.MethodPost, "/api/settle/report", s.Request, &rep); err != nil {
			return rep, err
		}
		if rep.Result == api.SettleLive {
			return rep, s.answered(ctx, &rep, end)
		}
		if rep.Result != api.SettleWaiting || left <= settlePiece {
			return rep, nil
		}
		if now := awaited(rep); now != told && s.Awaits != nil {
			told = now
			s.Awaits(rep)
		}
		rep = api.SettleReport{}
	}
}

// awaited identifies the things that a report waits for.
func awaited(rep api.SettleReport) string {
	all := []string{rep.Text}
	for _, r := range rep.Resources {
		if r.Result == api.SettleWaiting {
			all = append(all, r.Name+": "+r.Text)
		}
	}
	return strings.Join(all, "\n")
}

// answered waits until all addresses answer as expected, and notes the first that does not by the end.
func (s Settling) answered(ctx context.Context, rep *api.SettleReport, end time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	for _, e := range s.Answers {
		for {
			got, err := e.ask(ctx)
			if err == nil && e.met(got) {
				break
			}
			text := fmt.Sprintf("%s answers %d", e.URL, got)
			if err != nil {
				text = err.Error()
			}
			select {
			case <-time.After(answerPause):
				continue
			case <-ctx.Done():
			}
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			rep.Result, rep.Text = api.SettleWaiting, text
			rep.ExitCode = rep.Result.ExitCode()
			return nil
		}
	}
	return nil
}

func (e Expected) met(status int) bool {
	if e.Status == 0 {
		return status < http.StatusBadRequest
	}
	return status == e.Status
}

// ask returns the status code of the answer of an address. A redirect is an answer.
func (e Expected) ask(ctx context.Context) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL, nil)
	if err != nil {
		return 0, err
	}
	direct := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := direct.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, mostAnswer))
	return resp.StatusCode, err
}
