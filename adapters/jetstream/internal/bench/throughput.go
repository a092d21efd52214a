package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/agfold/agfold/adapters/jetstream"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

const delta = "a word of it, of the usual length "

// talk is an agent that says so many words, as fast as they are taken, or one for each value of pace.
func talk(words int, pace <-chan struct{}) client.Agent {
	return client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		id := "m-" + in.RunID
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.TextMessageStart{MessageID: id, Role: messages.RoleAssistant}); err != nil {
			return err
		}
		for range words {
			if pace != nil {
				<-pace
			}
			if err := emit(&event.TextMessageContent{MessageID: id, Delta: delta}); err != nil {
				return err
			}
		}
		return emit(&event.TextMessageEnd{MessageID: id}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
}

// throughput publishes a run of a session and follows it, and publishes the same bytes with nothing around them, one event a
// message, with as many under way as the client allows, and reads them.
func (r *rig) throughput(ctx context.Context) error {
	var ours, bare, session []float64
	for range 3 {
		n, err := r.ours(ctx, 1)
		if err != nil {
			return err
		}
		ours = append(ours, rate(r.events, n))
		if n, err = r.bare(ctx); err != nil {
			return err
		}
		bare = append(bare, rate(r.events, n))
		begun := time.Now()
		s := client.NewSession(talk(r.events, nil), nil)
		if _, err := s.Send(ctx, messages.UserText("Hi")); err != nil {
			return err
		}
		session = append(session, rate(r.events, time.Since(begun)))
	}
	a, b, c := median(ours), median(bare), median(session)
	fmt.Printf("a session alone, nothing stored:                     %9.0f events/s\n", c)
	fmt.Printf("published and followed by a folding reader:          %9.0f events/s\n", a)
	fmt.Printf("the same bytes through the bare broker, and read:    %9.0f events/s\n", b)
	fmt.Printf("ratio: %.2f x the bare broker (goal: at least 0.7 x)\n", a/b)
	return nil
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// ours runs the agent on a new thread and waits until all followers have all of it.
func (r *rig) ours(ctx context.Context, followers int) (time.Duration, error) {
	l, nc, err := r.log(ctx, jetstream.Options{})
	if err != nil {
		return 0, err
	}
	defer nc.Close()
	defer l.Close()
	id := fmt.Sprint("through-", time.Now().UnixNano())
	h, err := l.Hold(ctx, id)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all []*jetstream.Follower
	for range followers {
		other, nc, err := r.log(ctx, jetstream.Options{})
		if err != nil {
			return 0, err
		}
		defer nc.Close()
		f := other.Watch(ctx, id, nil)
		<-f.Ready()
		all = append(all, f)
	}
	s := h.Session(talk(r.events, nil), nil)
	begun := time.Now()
	if _, err := s.Send(ctx, messages.UserText("Hi")); err != nil {
		return 0, err
	}
	want := s.Thread().Revision
	for _, f := range all {
		for snapshot := range f.Subscribe(ctx) {
			if snapshot.Revision >= want {
				break
			}
		}
	}
	d := time.Since(begun)
	s.Close()
	return d, h.Close()
}

// bare publishes as many messages of the same text to a stream of their own and reads them in order.
func (r *rig) bare(ctx context.Context) (time.Duration, error) {
	nc, err := nats.Connect(r.server.URL())
	if err != nil {
		return 0, err
	}
	defer nc.Close()
	reader, err := nats.Connect(r.server.URL())
	if err != nil {
		return 0, err
	}
	defer reader.Close()
	api, err := js.New(nc, js.WithPublishAsyncMaxPending(4096))
	if err != nil {
		return 0, err
	}
	name := fmt.Sprint("BARE", time.Now().UnixNano())
	stream, err := api.CreateStream(ctx, js.StreamConfig{Name: name, Subjects: []string{name}})
	if err != nil {
		return 0, err
	}
	defer api.DeleteStream(ctx, stream.CachedInfo().Config.Name)
	far, err := js.New(reader)
	if err != nil {
		return 0, err
	}
	c, err := far.OrderedConsumer(ctx, name, js.OrderedConsumerConfig{})
	if err != nil {
		return 0, err
	}
	read := make(chan struct{})
	seen := 0
	consuming, err := c.Consume(func(js.Msg) {
		if seen++; seen == r.events {
			close(read)
		}
	})
	if err != nil {
		return 0, err
	}
	defer consuming.Stop()
	text, _ := (&event.TextMessageContent{MessageID: "m-00000000-0000-0000-0000-000000000000", Delta: delta}).MarshalJSON()
	begun := time.Now()
	for range r.events {
		if _, err := api.PublishAsync(name, text, js.WithStallWait(time.Minute)); err != nil {
			return 0, err
		}
	}
	<-api.PublishAsyncComplete()
	<-read
	return time.Since(begun), nil
}

// latency measures how long an event takes from its emission to a snapshot of a follower in another connection, while
// nothing else happens, and the bare broker's publish and delivery.
func (r *rig) latency(ctx context.Context) error {
	l, nc, err := r.log(ctx, jetstream.Options{})
	if err != nil {
		return err
	}
	defer nc.Close()
	defer l.Close()
	other, nc2, err := r.log(ctx, jetstream.Options{})
	if err != nil {
		return err
	}
	defer nc2.Close()
	h, err := l.Hold(ctx, "latency")
	if err != nil {
		return err
	}
	f := other.Watch(ctx, "latency", nil)
	<-f.Ready()
	snapshots := f.Subscribe(ctx)
	pace := make(chan struct{})
	s := h.Session(talk(r.latencies, pace), nil)
	turn, err := s.Start(ctx, &client.RunOptions{Messages: []*messages.Message{messages.UserText("Hi")}})
	if err != nil {
		return err
	}
	var all []time.Duration
	for i := range r.latencies {
		begun := time.Now()
		pace <- struct{}{}
		for snapshot := range snapshots {
			if m := snapshot.Messages; m.Len() == 2 && len(m.At(1).Text()) == len(delta)*(i+1) {
				break
			}
		}
		all = append(all, time.Since(begun))
	}
	if _, err := turn.Wait(ctx); err != nil {
		return err
	}
	s.Close()
	bare, err := r.roundTrips()
	if err != nil {
		return err
	}
	slices.Sort(all)
	fmt.Printf("median %v, 99 %%: %v\n", all[len(all)/2].Round(time.Microsecond), all[len(all)*99/100].Round(time.Microsecond))
	fmt.Printf("the bare broker's publish and acknowledgement: median %v; ratio %.1f x\n", bare.Round(time.Microsecond), float64(all[len(all)/2])/float64(bare))
	return h.Close()
}

// roundTrips returns the median time of publishing one message to a stream.
func (r *rig) roundTrips() (time.Duration, error) {
	nc, err := nats.Connect(r.server.URL())
	if err != nil {
		return 0, err
	}
	defer nc.Close()
	api, err := js.New(nc)
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	if _, err := api.CreateStream(ctx, js.StreamConfig{Name: "TRIPS", Subjects: []string{"TRIPS"}}); err != nil {
		return 0, err
	}
	defer api.DeleteStream(ctx, "TRIPS")
	var all []time.Duration
	for range r.latencies {
		begun := time.Now()
		if _, err := api.Publish(ctx, "TRIPS", []byte(delta)); err != nil {
			return 0, err
		}
		all = append(all, time.Since(begun))
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// fanOut follows one thread with ever more followers, each over a connection of its own.
func (r *rig) fanOut(ctx context.Context) error {
	own := *r
	own.events = min(r.events, 20_000)
	var one float64
	for i, n := range r.followers {
		d, err := own.ours(ctx, n)
		if err != nil {
			return err
		}
		each := rate(own.events, d)
		if i == 0 {
			one = each
		}
		fmt.Printf("%4d followers: %8.0f events/s, %9.0f deliveries/s; %.2f x the rate of one\n", n, each, each*float64(n), each/one)
	}
	return nil
}
