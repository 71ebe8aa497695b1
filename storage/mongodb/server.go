// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/locus-db/locus/cell"
)

// Server describes the server at a URI, as reported by the server itself.
type Server struct {
	// Topology is the kind of deployment.
	Topology Topology
	// Set is the name of the replica set.
	Set string
	// Version is the version that the server reports.
	Version string
	// StandIn is the product that emulates MongoDB, "" for MongoDB itself.
	StandIn string
}

// Topology is a kind of deployment.
type Topology string

// Topologies.
const (
	Standalone Topology = "standalone"
	ReplicaSet Topology = "replica set"
	Sharded    Topology = "sharded cluster"
)

// String returns a short description.
func (s Server) String() string {
	product := "MongoDB"
	if s.StandIn != "" {
		product = s.StandIn
	}
	text := fmt.Sprintf("%s %s, %s", product, s.Version, s.Topology)
	if s.Set != "" {
		text += " " + s.Set
	}
	return text
}

// look asks the server what kind it is, because the URI proves nothing.
func look(ctx context.Context, client *mongo.Client) (Server, error) {
	var hello struct {
		Set string `bson:"setName"`
		Msg string `bson:"msg"`
	}
	var build struct {
		Version string `bson:"version"`
		Ferret  any    `bson:"ferretdb"`
		Ferret1 string `bson:"ferretdbVersion"`
	}
	admin := client.Database("admin")
	if err := admin.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello); err != nil {
		return Server{}, unread(err)
	}
	if err := admin.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&build); err != nil {
		return Server{}, unread(err)
	}
	s := Server{Topology: Standalone, Set: hello.Set, Version: build.Version}
	switch {
	case hello.Msg == "isdbgrid":
		s.Topology = Sharded
	case hello.Set != "":
		s.Topology = ReplicaSet
	}
	if build.Ferret != nil || build.Ferret1 != "" {
		s.StandIn = "FerretDB"
	}
	return s, nil
}

// preflight refuses a server that may lose acknowledged writes.
func (s Server) preflight() error {
	switch {
	case s.StandIn != "":
		return fmt.Errorf("%w: this is %s, which is not known to keep what Locus relies on", cell.ErrPreflight, s)
	case s.Topology == Standalone:
		return fmt.Errorf("%w: this is %s: a write that is sent again would count twice there; make it a replica set, of one member if need be (rs.initiate())", cell.ErrPreflight, s)
	}
	return nil
}
