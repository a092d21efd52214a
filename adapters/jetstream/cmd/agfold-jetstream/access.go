package main

import (
	"context"

	"github.com/nats-io/nats.go"

	"github.com/agfold/agfold/adapters/jetstream"
)

// access is how to reach the servers and which stream is meant.
type access struct {
	Creds    string `help:"Credentials file." placeholder:"FILE" type:"existingfile"`
	CA       string `help:"Certificate authority of the servers." placeholder:"FILE" type:"existingfile"`
	Name     string `help:"Name of the stream." default:"AGFOLD"`
	Replicas int    `help:"How many servers store each message, if the stream is made." default:"1"`
}

// open connects and opens the log. The returned function closes both.
func (a *access) open(ctx context.Context, url string, o jetstream.Options) (*jetstream.Log, *nats.Conn, func(), error) {
	var options []nats.Option
	if a.Creds != "" {
		options = append(options, nats.UserCredentials(a.Creds))
	}
	if a.CA != "" {
		options = append(options, nats.RootCAs(a.CA))
	}
	nc, err := jetstream.Connect(url, options...)
	if err != nil {
		return nil, nil, nil, err
	}
	o.Name, o.Replicas = a.Name, a.Replicas
	l, err := jetstream.New(ctx, nc, &o)
	if err != nil {
		nc.Close()
		return nil, nil, nil, err
	}
	return l, nc, func() { _ = l.Close(); nc.Close() }, nil
}
