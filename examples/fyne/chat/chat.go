// Package chat is what the window of examples/fyne shows.
package chat

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Chat shows a session. Only Fyne's thread may use it, but for Follow.
type Chat struct {
	Content     *container.Split
	Entry       *widget.Entry
	session     *client.Session
	now         client.Snapshot
	rows, asked *fyne.Container // of the messages, and of what the agent asks
	left        *fyne.Container // all but the state
	scroll      *container.Scroll
	state       *widget.Tree
	status      *widget.Label
	stop        *widget.Button
}

// New returns the chat of a session.
func New(s *client.Session) *Chat {
	c := &Chat{session: s, rows: container.NewVBox(), asked: container.NewVBox(),
		status: &widget.Label{Wrapping: fyne.TextWrapWord}, Entry: widget.NewEntry()}
	c.Entry.OnSubmitted = func(text string) {
		c.Entry.SetText("")
		c.start(&client.RunOptions{Messages: []*messages.Message{messages.UserText(text)}})
	}
	c.stop = widget.NewButton("Stop", func() { go s.Stop(context.Background()) })
	c.state = widget.NewTree(c.children, func(place string) bool { return c.at(place).Len() > 0 },
		func(bool) fyne.CanvasObject { return widget.NewLabel("") }, c.draw)
	c.scroll = container.NewVScroll(c.rows)
	bottom := container.NewVBox(c.asked, container.NewBorder(nil, nil, nil, c.stop, c.Entry), c.status)
	c.left = container.NewBorder(nil, bottom, nil, nil, c.scroll)
	c.show(s.Snapshot())
	c.Content = container.NewHSplit(c.left, widget.NewCard("", "State", c.state))
	c.Content.SetOffset(0.7)
	return c
}

// Follow has Fyne's thread show each snapshot, with do, until ctx ends. While it is busy, newer snapshots replace older ones.
func (c *Chat) Follow(ctx context.Context, do func(func())) {
	shown := make(chan struct{}, 1)
	for now := range c.session.SubscribeThrottled(ctx, 50*time.Millisecond) {
		do(func() { c.show(now); shown <- struct{}{} })
		select {
		case <-shown:
		case <-ctx.Done():
			return
		}
	}
}

// start begins a turn. What comes of it is in the snapshots.
func (c *Chat) start(o *client.RunOptions) {
	if _, err := c.session.Start(context.Background(), o); err != nil {
		c.status.SetText(err.Error())
	}
}

// show makes the rows of the messages that changed, and refreshes what else did.
func (c *Chat) show(now client.Snapshot) {
	changes := now.ChangesSince(c.now.Thread)
	c.now = now
	at, inserted := changes.Rows.At, changes.Rows.Inserted
	c.rows.Objects = slices.Replace(c.rows.Objects, at, at+changes.Rows.Removed, make([]fyne.CanvasObject, inserted)...)
	for i := at; i < at+inserted; i++ {
		c.rows.Objects[i] = c.row(now.Messages.At(i))
	}
	for _, i := range changes.Messages {
		c.rows.Objects[i] = c.row(now.Messages.At(i))
	}
	if len(changes.State) > 0 {
		c.state.Refresh()
	}
	if changes.Interrupts {
		c.ask()
	}
	c.status.SetText(now.Phase.String())
	if err := now.Err(); err != nil {
		c.status.SetText(now.Phase.String() + ": " + err.Error())
	}
	c.stop.Hidden = !now.Phase.Busy()
	c.left.Refresh()
	if inserted > 0 || len(changes.Messages) > 0 {
		c.rows.Resize(c.rows.MinSize().Max(c.scroll.Size())) // a new label knows its height only now
		c.scroll.ScrollToBottom()
	}
}

// row returns what shows a message: its text, and a card for each of its calls.
func (c *Chat) row(m *messages.Message) fyne.CanvasObject {
	row := container.NewVBox()
	if text := m.Text() + m.Error.Or(""); text != "" {
		row.Add(&widget.Label{Text: string(m.Role) + ": " + text, Wrapping: fyne.TextWrapWord})
	}
	for _, call := range m.ToolCalls.All() {
		row.Add(widget.NewCard("", call.Name+" ("+call.Status.String()+")", &widget.Label{Text: call.PartialArgs().String(), Wrapping: fyne.TextWrapWord}))
	}
	return row
}

// ask shows a check for each question, and a button that answers all of them, as the next run must.
func (c *Chat) ask() {
	c.asked.RemoveAll()
	approved := map[string]bool{}
	for _, in := range c.now.Interrupts {
		c.asked.Add(widget.NewCheck(in.Message.Or(in.Reason), func(on bool) { approved[in.ID] = on }))
	}
	if len(c.now.Interrupts) > 0 {
		c.asked.Add(widget.NewButton("Answer", func() {
			c.start(&client.RunOptions{Resume: client.AnswerAll(c.now.Interrupts, func(in event.Interrupt) client.Answer {
				if approved[in.ID] {
					return client.Resolve(in.ID, map[string]bool{"approved": true}) // in.ResponseSchema says what fits
				}
				return client.Decline(in.ID)
			})})
		}))
	}
}

// at returns the value at a place in the tree of the state. A place is a JSON pointer.
func (c *Chat) at(place string) (v state.Value) {
	v, _ = c.now.State.Lookup(place) // absent if it has gone
	return v
}

func (c *Chat) children(place string) (places []string) {
	for key := range c.at(place).Members() {
		places = append(places, place+state.Pointer(key))
	}
	for i := range c.at(place).Elements() {
		places = append(places, place+state.Pointer(strconv.Itoa(i)))
	}
	return places
}

func (c *Chat) draw(place string, branch bool, node fyne.CanvasObject) {
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(place[strings.LastIndexByte(place, '/')+1:])
	if !branch {
		key += ": " + c.at(place).String()
	}
	node.(*widget.Label).SetText(key)
}
