package main

import (
	"context"
	"fmt"
	"os"

	"github.com/ogen-go/ogen/ogenerrors"

	"ogen/warden"
)

// The demo asks for no token, but this client asks for nothing without one.
type anybody struct{}

func (anybody) Key(context.Context, string) (key warden.Key, err error) {
	return key, ogenerrors.ErrSkipClientSecurity
}

func (anybody) Password(context.Context, string) (password warden.Password, err error) {
	return password, ogenerrors.ErrSkipClientSecurity
}

func (anybody) Session(context.Context, string) (session warden.Session, err error) {
	return session, ogenerrors.ErrSkipClientSecurity
}

func (anybody) Token(context.Context, string) (warden.Token, error) {
	return warden.Token{Token: "any"}, nil
}

func main() {
	client, err := warden.NewClient(os.Args[1], anybody{})
	if err != nil {
		panic(err)
	}
	answer, err := client.GetFleet(context.Background(), warden.GetFleetParams{})
	if err != nil {
		panic(err)
	}
	fleet := answer.(*warden.GetFleetOK)
	fmt.Printf("%v mailboxes, %v\n", fleet.Total, fleet.Mailboxes[0].Email)
}
