// Slack's incoming webhook and a signed webhook on loopback: keep every message, and can fail for a while.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { close, listen, urlOf } from './loopback.ts';

/** A message as it arrived. */
export interface ReceivedMessage {
  readonly at: number;
  readonly to: 'slack' | 'hook';
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** What we answered; 0 when the message was lost. */
  readonly status: number;
}

/** One alert in the body of a webhook, as far as tests read it. */
export interface ReceivedAlert {
  readonly fingerprint: string;
  readonly status: string;
  readonly rule: string;
  readonly severity: string;
  readonly mailbox: string | null;
  /** What else it is about: an action with its outcome, a domain. */
  readonly object: string | null;
  readonly title: string;
  readonly sentences: readonly string[];
  readonly numbers: Readonly<Record<string, number | string | null>>;
}

/** As the reference library tolerates, by a clock that goes on while a long test runs. */
const toleratedMs = 5 * 60_000;

export class Receiver implements AsyncDisposable {
  /** `whsec_` and base64, as the configuration wants it. */
  readonly secret = `whsec_${Buffer.from('a secret of thirty-two characters').toString('base64')}`;
  readonly notified: ReceivedMessage[] = [];
  /** The status to answer with; called for each message before it is answered. 0 loses it: the connection is cut. */
  answer: (to: ReceivedMessage['to'], text: string) => number = () => 200;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  /** Listens on a free port of loopback. */
  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await listen(receiver.#server);
    return receiver;
  }

  get slackUrl(): string {
    return `${urlOf(this.#server)}/services/T000/B000/SLACKSECRET`;
  }

  get hookUrl(): string {
    return `${urlOf(this.#server)}/hook`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return close(this.#server);
  }

  /** Texts that Slack took. */
  slack(): readonly string[] {
    return this.notified.filter(({ to, status }) => to === 'slack' && status === 200).map(({ text }) => text);
  }

  /** Alerts of the webhook messages that were taken. Throws when a signature is wrong. */
  alerts(): readonly ReceivedAlert[] {
    const taken = this.notified.filter(({ to, status }) => to === 'hook' && status === 200);
    return taken.flatMap((message) => this.verified(message));
  }

  /** The alerts of one webhook message, after its signature was verified by the reference library, as of when it arrived. */
  verified({ at, text, headers }: ReceivedMessage): readonly ReceivedAlert[] {
    const signedAt = new Date(Number(headers['webhook-timestamp']) * 1_000);
    const signature = new Webhook(this.secret).sign(headers['webhook-id'] ?? '', signedAt, text);
    if (headers['webhook-signature'] !== signature) throw new Error('the signature is wrong');
    if (Math.abs(at - signedAt.getTime()) > toleratedMs) throw new Error(`signed ${signedAt.toISOString()}`);
    return (JSON.parse(text) as { data: { alerts: ReceivedAlert[] } }).data.alerts;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const said = await text(request);
    const to = request.url === '/hook' ? 'hook' : 'slack';
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const status = this.answer(to, said);
    this.notified.push({ at: Date.now(), to, headers, text: said, status });
    if (status === 0) {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { 'content-type': 'text/plain' }).end(status === 200 ? 'ok' : 'no');
  }
}
