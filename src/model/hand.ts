// A person's hand on the running daemon: what was asked, by whom, why, and what came of it.

/** What a person may ask for. More hands come with later versions. */
export interface ReleaseRequest {
  /** A mailbox as people name it (address, id, or ACCOUNT/ADDRESS); null: the breaker, of all accounts. */
  readonly mailbox: string | null;
  readonly by: string;
  readonly reason: string;
}

/** `said` are sentences for the person; with `done` false they say what is wrong. */
export interface HandOutcome {
  readonly done: boolean;
  readonly said: readonly string[];
}

/** The actions that the daemon hands to whoever takes people's wishes. */
export interface Hands {
  release(request: ReleaseRequest): Promise<HandOutcome>;
}
