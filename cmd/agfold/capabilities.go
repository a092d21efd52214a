package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// maxCapabilities bounds a file with a declaration.
const maxCapabilities = 1 << 20

// readCapabilities reads a declaration from a file; "" is none.
func readCapabilities(name string, t *terminal) (*event.Capabilities, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxCapabilities+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxCapabilities:
		return nil, fmt.Errorf("a declaration of capabilities has at most %d bytes", maxCapabilities)
	}
	v, err := state.Parse(text)
	if err != nil {
		return nil, err
	}
	c, warnings, err := event.DecodeCapabilities(v, nil)
	for _, w := range warnings {
		t.say("agfold: %s: %s %s: %s", name, w.Rule, w.Path, w.Text)
	}
	return c, err
}

// capabilitiesText says in a line what an agent declares that it does, and does not do.
func capabilitiesText(c *event.Capabilities) string {
	var can, cannot []string
	if c.Identity != nil {
		if name := c.Identity.Name.Or(""); name != "" {
			can = append(can, strings.TrimSpace(name+" "+c.Identity.Version.Or("")))
		}
	}
	say := func(declared messages.Opt[bool], what string) {
		if yes, ok := declared.Get(); ok && yes {
			can = append(can, what)
		} else if ok {
			cannot = append(cannot, what)
		}
	}
	if c.Tools != nil {
		say(c.Tools.Supported, "tools")
		say(c.Tools.ClientProvided, "your tools")
	}
	if c.State != nil {
		say(c.State.Snapshots, "state snapshots")
		say(c.State.Deltas, "state patches")
	}
	if c.MultiAgent != nil {
		say(c.MultiAgent.Supported, "subagents")
	}
	if c.Reasoning != nil {
		say(c.Reasoning.Supported, "reasoning")
	}
	if in := c.Multimodal; in != nil && in.Input != nil {
		say(in.Input.Image, "images")
		say(in.Input.Audio, "audio")
		say(in.Input.Video, "video")
		say(in.Input.PDF, "PDF")
		say(in.Input.File, "files")
	}
	if c.HumanInTheLoop != nil {
		say(c.HumanInTheLoop.Interrupts, "interrupts")
	}
	text := strings.Join(can, ", ")
	if cannot != nil {
		text = strings.TrimPrefix(text+"; no "+strings.Join(cannot, ", "), "; ")
	}
	return text
}
