package main

import (
	"context"
	"fmt"
	"os"

	"oapi_codegen/warden"
)

func main() {
	client, err := warden.NewClientWithResponses(os.Args[1])
	if err != nil {
		panic(err)
	}
	answer, err := client.GetFleetWithResponse(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d mailboxes, %s\n", answer.JSON200.Total, answer.JSON200.Mailboxes[0].Email)
}
