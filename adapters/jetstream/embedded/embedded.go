// Package embedded runs NATS servers with JetStream in this process: one to start with, so that nothing needs to be installed,
// or a cluster of them, for tests. It is apart from package jetstream, so that a program that connects to servers elsewhere
// does not contain one.
package embedded

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Options configures [Start]; nil means defaults.
type Options struct {
	// Dir is where the server keeps its files; it is made if need be. "" is a new directory that Stop removes.
	Dir string
	// Host and Port are where it listens. "" is 127.0.0.1; 0 is a free port.
	Host string
	Port int
	// MaxMemory and MaxStore bound what streams may take, in bytes; 0 leaves that to the server: parts of what the machine has.
	MaxMemory, MaxStore int64
	// Configure, if it is set, changes what the server is given: accounts, TLS, a cluster.
	Configure func(o *server.Options)
}

// Server is a NATS server in this process. Its methods may be called concurrently with the server's work, one at a time.
type Server struct {
	o    server.Options
	temp string
	s    *server.Server
}

// startWithin is how long a server may take to be ready.
const startWithin = 30 * time.Second

// Start starts a server and waits until it takes connections.
func Start(o *Options) (*Server, error) {
	if o == nil {
		o = new(Options)
	}
	e := new(Server)
	e.o = server.Options{
		Host: o.Host, Port: o.Port, JetStream: true, StoreDir: o.Dir, NoSigs: true, NoLog: true, DontListen: false,
		JetStreamMaxMemory: o.MaxMemory, JetStreamMaxStore: o.MaxStore,
	}
	if e.o.Host == "" {
		e.o.Host = "127.0.0.1"
	}
	if e.o.Port == 0 {
		e.o.Port = server.RANDOM_PORT
	}
	if e.o.StoreDir == "" {
		dir, err := os.MkdirTemp("", "agfold-jetstream-")
		if err != nil {
			return nil, err
		}
		e.o.StoreDir, e.temp = dir, dir
	}
	if o.Configure != nil {
		o.Configure(&e.o)
	}
	if err := e.start(); err != nil {
		e.Stop()
		return nil, err
	}
	return e, nil
}

// start starts the server with its options, and keeps the port that it has got.
func (e *Server) start() error {
	o := e.o // a server changes its options
	s, err := server.NewServer(&o)
	if err != nil {
		return err
	}
	e.s = s
	go s.Start()
	if !s.ReadyForConnections(startWithin) {
		return fmt.Errorf("the server at %s was not ready within %v", net.JoinHostPort(o.Host, fmt.Sprint(o.Port)), startWithin)
	}
	if addr, ok := s.Addr().(*net.TCPAddr); ok {
		e.o.Port = addr.Port
	}
	return nil
}

// URL returns the address to connect to.
func (e *Server) URL() string {
	return "nats://" + net.JoinHostPort(e.o.Host, fmt.Sprint(e.o.Port))
}

// NATS returns the server itself. After [Server.Restart] it is another one.
func (e *Server) NATS() *server.Server { return e.s }

// Kill ends the server as a crash of its process would for its clients and peers; its files stay.
func (e *Server) Kill() {
	e.s.Shutdown()
	e.s.WaitForShutdown()
}

// Restart starts a server that was killed, at the same place with the same files.
func (e *Server) Restart() error { return e.start() }

// Stop ends the server, and removes its files if Start has made their directory.
func (e *Server) Stop() {
	if e.s != nil {
		e.Kill()
	}
	if e.temp != "" {
		_ = os.RemoveAll(e.temp)
	}
}

// Cluster starts so many servers that know each other, and waits until they can store.
func Cluster(size int, o *Options) ([]*Server, error) {
	if o == nil {
		o = new(Options)
	}
	var routes []*url.URL
	var ports []int
	var free []net.Listener // until all ports are known
	for range size {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		free = append(free, l)
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
		routes = append(routes, &url.URL{Scheme: "nats", Host: l.Addr().String()})
	}
	for _, l := range free {
		l.Close()
	}
	var all []*Server
	for i := range size {
		own := *o
		own.Configure = func(s *server.Options) {
			s.ServerName = fmt.Sprintf("n%d", i)
			s.Cluster = server.ClusterOpts{Name: "agfold", Host: "127.0.0.1", Port: ports[i]}
			s.Routes = routes
			if o.Configure != nil {
				o.Configure(s)
			}
		}
		e, err := Start(&own)
		if err != nil {
			for _, e := range all {
				e.Stop()
			}
			return nil, err
		}
		all = append(all, e)
	}
	for until := time.Now().Add(startWithin); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		for _, e := range all {
			if e.s.JetStreamIsLeader() && len(e.s.JetStreamClusterPeers()) == size {
				return all, nil
			}
		}
	}
	for _, e := range all {
		e.Stop()
	}
	return nil, errors.New("the cluster has no leader")
}
