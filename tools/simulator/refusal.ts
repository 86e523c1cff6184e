// A request that the API turns down: its status and a sentence for the caller.

/** Thrown by whatever finds the fault; the HTTP server answers `{error: message}` with the status and headers. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}
