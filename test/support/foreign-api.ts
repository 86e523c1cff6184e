// A mailbox API that is served by a program of others: canned (npm), in a process of its own, which knows of mailboxes only what
// stands in a folder of JSON files. A test writes the files; every request is in the program's own log.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { node } from './process.ts';
import { until } from './until.ts';

const program = fileURLToPath(import.meta.resolve('canned/bin/canned'));
const dayMs = 86_400_000;

/** The answers about one mailbox, field by field as api/mailbox-api.md has them. A test changes them and calls `publish`. */
export interface ForeignMailbox {
  readonly id: string;
  readonly email: string;
  status: string;
  mode: string;
  targetDailyLimit: number;
  /** Emails sent and bounced, today first. */
  days: readonly { readonly sent: number; readonly bounced: number }[];
  dns: { readonly spf: 'pass' | 'fail'; readonly checkedAt: string };
  /** What refresh=true answers; null: the same. */
  freshDns: { readonly spf: 'pass' | 'fail'; readonly checkedAt: string } | null;
}

export class ForeignApi implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'warmwarden-foreign-'));
  readonly #port: number;
  readonly #process: ChildProcess;
  readonly #mailboxes: ForeignMailbox[] = [];
  #log = '';

  private constructor(port: number) {
    this.#port = port;
    mkdirSync(join(this.#folder, 'api'));
    this.#process = spawn(node, [program, '--port', String(port), 'api'], { cwd: this.#folder });
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#log += text;
    });
  }

  static async start(): Promise<ForeignApi> {
    const api = new ForeignApi(await freePort());
    api.publish();
    await until('the API of others', () =>
      fetch(`${api.url}/v1/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** `get /v1/dns?mailbox_id=...`, in order. Of two requests at a time, canned writes one line. */
  get requests(): readonly string[] {
    return [...this.#log.matchAll(/request: (\w+ \S+?)(?=request: |\s|$)/g)].map(([, request = '']) => request);
  }

  /** The requests about a mailbox, by the start of their path. */
  asked(mailbox: ForeignMailbox, path: string): readonly string[] {
    return this.requests.filter((request) => request.startsWith(`get ${path}`) && request.includes(mailbox.id));
  }

  /** A new mailbox: active, balanced, without a bounce. `publish` makes it known. */
  add(name: string, change: Partial<ForeignMailbox> = {}): ForeignMailbox {
    const mailbox: ForeignMailbox = {
      id: `box-${name}`,
      email: `${name}@${name}.example`,
      status: 'active',
      mode: 'balanced',
      targetDailyLimit: 30,
      days: [20, 20, 20, 20, 20, 20, 20].map((sent) => ({ sent, bounced: 0 })),
      dns: { spf: 'pass', checkedAt: new Date().toISOString() },
      freshDns: null,
      ...change,
    };
    this.#mailboxes.push(mailbox);
    return mailbox;
  }

  /** Writes what the API answers from now on. */
  publish(): void {
    const timestamp = new Date().toISOString();
    const byId = (answer: (mailbox: ForeignMailbox) => object) =>
      this.#mailboxes.map((mailbox) => ({ when: { mailbox_id: mailbox.id }, answer: answer(mailbox) }));
    this.#write('v1/_health.get.json', JSON.stringify({ status: 'ok', version: 'canned', timestamp }));
    this.#write('v1/mailboxes/index.get.json', JSON.stringify({ mailboxes: this.#mailboxes.map(entry) }));
    for (const mailbox of this.#mailboxes) {
      const detail = { ...entry(mailbox), connection_error: null };
      this.#write(`v1/mailboxes/_${mailbox.id}.get.json`, JSON.stringify(detail));
    }
    this.#write('v1/_warmup.get.json', chosen(byId(warmup)));
    this.#write('v1/_warmup.post.json', JSON.stringify({ success: true, message: 'accepted', config: {} }));
    this.#write('v1/_stats.get.json', chosen(byId(stats)));
    this.#write('v1/_blacklist.get.json', chosen(byId(blacklist)));
    const fresh = this.#mailboxes.map((mailbox) => ({
      when: { mailbox_id: mailbox.id, refresh: 'true' },
      answer: dns(mailbox, mailbox.freshDns ?? mailbox.dns),
    }));
    this.#write('v1/_dns.get.json', chosen([...byId((mailbox) => dns(mailbox, mailbox.dns)), ...fresh]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#process, 'close');
    this.#process.kill();
    await gone;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** In one step, so that no request finds half a file. */
  #write(name: string, text: string): void {
    const [file, draft] = [join(this.#folder, 'api', name), join(this.#folder, 'draft')];
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, text);
    renameSync(draft, file);
  }
}

/** canned's own format: of the answers in a file the last counts whose parameters the request has. */
function chosen(answers: readonly { readonly when: object; readonly answer: object }[]): string {
  const nobody = '//! statusCode: 404\n{"error": "no such mailbox"}';
  const blocks = answers.map(
    ({ when, answer }) => `//! params: ${JSON.stringify(when)}\n//! statusCode: 200\n${JSON.stringify(answer)}`,
  );
  return [nobody, ...blocks].join('\n\n');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function entry({ id, email, status }: ForeignMailbox): object {
  const scores = { health_score: 91.5, daily_limit: 30, warmup_day: 24 };
  return { id, email, provider: 'google', status, ...scores, created_at: '2026-01-05T09:00:00.000Z' };
}

function warmup({ id, email, status, mode, targetDailyLimit }: ForeignMailbox): object {
  const scores = { health_score: 91.5, daily_limit: 30, warmup_day: 24 };
  const window = { send_window_start: 8, send_window_end: 18 };
  const config = { target_daily_limit: targetDailyLimit, reply_rate: 30, thread_rate: 20, weekdays_only: false };
  return {
    mailbox_id: id,
    email,
    status,
    ...scores,
    warmup_mode: mode,
    config: { ...config, ...window },
    recent_emails: [],
  };
}

function stats({ id, days }: ForeignMailbox): object {
  const rows = days.map(({ sent, bounced }, daysAgo) => ({
    date: new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10),
    sent,
    delivered: sent - bounced,
    opened: 0,
    replied: 0,
    bounced,
    spam_landed: 0,
    inbox_rate: '100.00',
    bounce_rate: ((bounced * 100) / sent).toFixed(2),
    reply_rate: '0.00',
    health_score: '91.50',
  }));
  return { mailbox_id: id, period: '30d', stats: rows };
}

function dns({ id, email }: ForeignMailbox, { spf, checkedAt }: ForeignMailbox['dns']): object {
  const passes = { status: 'pass', record: 'v=spf1 -all' };
  const records = { spf: spf === 'pass' ? passes : { status: spf, record: null }, dkim: passes, dmarc: passes };
  return { mailbox_id: id, domain: email.split('@')[1], checked_at: checkedAt, source: 'cached', ...records };
}

function blacklist({ id, email }: ForeignMailbox): object {
  const found = { listed: false, blacklists_found: [], total_checked: 40 };
  const domain = email.split('@')[1];
  return { mailbox_id: id, domain, ip: '192.0.2.9', checked_at: new Date().toISOString(), ...found };
}
