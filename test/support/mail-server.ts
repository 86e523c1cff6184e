// A real SMTP server on loopback that keeps what it takes, read by a real parser of emails, and refuses as a test tells it to.
import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { ownCertificate } from './certificates.ts';

/** An email as it arrived. */
export interface ReceivedEmail {
  readonly mail: ParsedMail;
  readonly to: readonly string[];
  readonly encrypted: boolean;
  /** What went over the wire. */
  readonly source: string;
}

/** Where in the conversation, and about whom. */
type Step = 'connect' | 'auth' | 'from' | 'to' | 'data';

interface MailServerOptions {
  /** null: whoever comes may send. */
  readonly password?: string | null;
  readonly tls?: 'none' | 'starttls' | 'from the start';
}

/** RFC 5321 4.5.3.1.6: octets of a line, without its end. */
const maxLine = 998;

export class MailServer implements AsyncDisposable {
  readonly received: ReceivedEmail[] = [];
  /** The answer to a step, such as `450 4.2.0 later`; null: yes. */
  answer: (step: Step, about: string) => string | null = () => null;
  attempts = 0;
  readonly #server: SMTPServer;
  readonly #options: MailServerOptions;

  private constructor(options: MailServerOptions) {
    this.#options = options;
    const { password = null, tls = 'none' } = options;
    this.#server = new SMTPServer({
      secure: tls === 'from the start',
      ...ownCertificate,
      disabledCommands: tls === 'none' ? ['STARTTLS'] : [],
      allowInsecureAuth: tls === 'none',
      authOptional: password === null,
      disableReverseLookup: true,
      closeTimeout: 200,
      onConnect: (_session, callback) => {
        this.attempts += 1;
        callback(this.#refusal('connect', ''));
      },
      onAuth: ({ username = '', password: given }, _session, callback) => {
        const refused = given === password ? this.#refusal('auth', username) : errorOf('535 5.7.8 Wrong password');
        callback(refused, { user: username });
      },
      onMailFrom: ({ address }, _session, callback) => callback(this.#refusal('from', address)),
      onRcptTo: ({ address }, _session, callback) => callback(this.#refusal('to', address)),
      onData: (stream, session, callback) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', async () => {
          const source = Buffer.concat(chunks).toString('latin1');
          const long = source.split('\r\n').some((line) => line.length > maxLine);
          const refused = long ? errorOf('500 5.5.2 Line too long') : this.#refusal('data', source);
          const to = session.envelope.rcptTo.map(({ address }) => address);
          const encrypted = session.secure === true;
          if (!refused) this.received.push({ mail: await simpleParser(Buffer.concat(chunks)), to, encrypted, source });
          callback(refused, '2.0.0 queued');
        });
      },
    });
    // A client that leaves in the middle is no fault of the server's.
    this.#server.on('error', () => {});
  }

  static async start(options: MailServerOptions = {}): Promise<MailServer> {
    const server = new MailServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, '0.0.0.0', () => resolve()));
    return server;
  }

  /** `host`: 0.0.0.0 reaches this machine, too, and does not count as loopback. */
  url(host = '127.0.0.1', password = this.#options.password): string {
    const { port } = this.#server.server.address() as AddressInfo;
    const scheme = this.#options.tls === 'from the start' ? 'smtps' : 'smtp';
    const user = password ? `alerts%40acme.example:${encodeURIComponent(password)}@` : '';
    return `${scheme}://${user}${host}:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #refusal(step: Step, about: string): Error | null {
    const answer = this.answer(step, about);
    return answer === null ? null : errorOf(answer);
  }
}

function errorOf(answer: string): Error {
  return Object.assign(new Error(answer.slice(4)), { responseCode: Number(answer.slice(0, 3)) });
}
