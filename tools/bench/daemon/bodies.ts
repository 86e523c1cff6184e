// The bodies that the benchmark's API answers with: a calm fleet whose mailboxes go on sending, so that a share of them changes.
import type { Route } from '../../../src/core/answers.ts';
import { seededChance } from '../guard/chance.ts';

const dayMs = 86_400_000;
/** Days before today in an answer about statistics; the guard asks for 30 days. */
const daysBefore = 29;
const dailyLimit = 40;
/** Mails of today at the start, and the most of them: no mailbox sends above its limit. */
const sentAtStart = 4;
const mostSent = 38;
/** DKIM of each hundredth mailbox breaks and mends with each change, so that alerts come and go as in a real fleet. */
const unsteadyEvery = 100;
const recentMails = 10;
const pastVariants = 64;

export interface FleetShape {
  readonly accounts: number;
  readonly mailboxesPerAccount: number;
  /** How many of the answers differ from the one before to the same question, 0 to 1. */
  readonly changedShare: number;
}

/** What happens to the whole fleet at once. storm: every mailbox gets an unknown status, and loses its connection. */
export type Incident = 'none' | 'storm';

const hex = (index: number) => index.toString(16).padStart(12, '0');
export const idOf = (index: number) => `00000000-0000-4000-8000-${hex(index)}`;
const indexOf = (id: string) => Number.parseInt(id.slice(-12), 16);
const domainOf = (index: number) => `outreach-${index % 997}.example`;
const emailOf = (index: number) => `ada.moss.${index}@${domainOf(index)}`;
const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);

const mailboxRoutes = ['stats', 'warmup', 'mailbox', 'dns', 'blacklist'] as const;
type MailboxRoute = (typeof mailboxRoutes)[number];

const dayRow = (date: string, sent: number, opened: number) =>
  `{"date":"${date}","sent":${sent},"delivered":${sent},"opened":${opened},"replied":${Math.floor(sent / 4)},` +
  `"bounced":0,"spam_landed":0,"inbox_rate":"100.00","bounce_rate":"0.00","reply_rate":"25.00","health_score":"98.50"}`;

/** What one asker is told. Each asker has its own, so that one does not see the changes of another go by. */
export class Bodies {
  readonly #shape: FleetShape;
  readonly #random = seededChance(16);
  /** Answers to each mailbox's questions that differed so far; 0: never asked. */
  readonly #versions: Readonly<Record<MailboxRoute, Uint32Array>>;
  #unread: number;
  #incident: Incident = 'none';
  /** Lists of each account that differed so far. */
  readonly #lists: Uint32Array;
  #past: { readonly day: string; readonly rows: readonly string[] } = { day: '', rows: [] };

  constructor(shape: FleetShape) {
    this.#shape = shape;
    this.#lists = new Uint32Array(shape.accounts);
    const count = shape.accounts * shape.mailboxesPerAccount;
    this.#unread = count * mailboxRoutes.length;
    this.#versions = {
      stats: new Uint32Array(count),
      warmup: new Uint32Array(count),
      mailbox: new Uint32Array(count),
      dns: new Uint32Array(count),
      blacklist: new Uint32Array(count),
    };
  }

  /** Questions that nobody asked so far, the list and health aside. */
  get unread(): number {
    return this.#unread;
  }

  happens(incident: Incident): void {
    this.#incident = incident;
  }

  /** The body for a question about a mailbox; null: there is no such mailbox. */
  ofMailbox(route: Exclude<Route, 'health' | 'mailboxes'>, id: string, fresh: boolean): string | null {
    const index = indexOf(id);
    const versions = this.#versions[route];
    const before = versions[index];
    if (before === undefined) return null;
    if (before === 0) this.#unread -= 1;
    const changes = before === 0 || fresh || this.#changes();
    const version = changes ? before + 1 : before;
    versions[index] = version;
    if (route === 'stats') return this.#stats(index, version);
    if (route === 'warmup') return warmup(index, version);
    if (route === 'mailbox') return detail(index, version, this.#incident);
    return route === 'dns' ? dns(index, version) : blacklist(index, version);
  }

  /** The list of an account. Its health scores move in one mailbox of a hundred. */
  list(account: number): string {
    const changed = (this.#lists[account] ?? 0) + (this.#changes() ? 1 : 0);
    this.#lists[account] = changed;
    const { mailboxesPerAccount } = this.#shape;
    const entries: string[] = [];
    for (let index = account * mailboxesPerAccount; index < (account + 1) * mailboxesPerAccount; index += 1) {
      const score = (index + changed) % 100 === 0 ? 98.5 : 98;
      const status = this.#incident === 'storm' ? 'suspended' : 'active';
      entries.push(`{${shared(index, score, status)},"created_at":"2026-01-05T08:00:00.000Z"}`);
    }
    return `{"mailboxes":[${entries.join(',')}]}`;
  }

  health(): string {
    return `{"status":"ok","version":"1.0.0","timestamp":"${new Date().toISOString()}"}`;
  }

  #changes(): boolean {
    return this.#random() < this.#shape.changedShare;
  }

  #stats(index: number, version: number): string {
    const day = isoDay(Date.now());
    if (day !== this.#past.day) this.#past = { day, rows: pastRows() };
    const sent = Math.min(mostSent, sentAtStart + version);
    const today = dayRow(day, sent, version % (sent + 1));
    return `{"mailbox_id":"${idOf(index)}","period":"30d","stats":[${this.#past.rows[index % pastVariants]},${today}]}`;
  }
}

const beganAt = Date.now();
/** A measurement is as old as its last change. */
const checkedAt = (version: number) => new Date(version === 1 ? beganAt : Date.now()).toISOString();

function pastRows(): readonly string[] {
  const today = Date.now();
  return Array.from({ length: pastVariants }, (_, variant) =>
    Array.from({ length: daysBefore }, (_, day) =>
      dayRow(isoDay(today - (daysBefore - day) * dayMs), 20 + ((variant + day) % 17), 12),
    ).join(','),
  );
}

const shared = (index: number, score: number, status: string) =>
  `"id":"${idOf(index)}","email":"${emailOf(index)}","provider":"google","status":"${status}",` +
  `"health_score":${score},"daily_limit":${dailyLimit},"warmup_day":31`;

function detail(index: number, version: number, incident: Incident): string {
  const records = '"dns_status":{"spf":"pass","dkim":"pass","dmarc":"pass"}';
  const score = 98 + (version % 4) / 2;
  const [status, error] = incident === 'storm' ? ['suspended', '"IMAP: login failed"'] : ['active', 'null'];
  const rest = `"warmup_started_at":"2026-01-05T08:00:00.000Z",${records},"connection_error":${error}`;
  return `{${shared(index, score, status)},${rest}}`;
}

function warmup(index: number, version: number): string {
  const mail = (newest: number) =>
    `{"id":"mail_${index}_${version + newest}","status":"sent","landed_in":"inbox",` +
    `"subject":"Notes on our talk about the ${version + newest}. quarter","scheduled_at":"2026-02-04T09:00:00.000Z",` +
    `"sent_at":"2026-02-04T09:00:07.000Z","bounce_type":null,"bounce_category":null}`;
  const settings =
    '"config":{"target_daily_limit":40,"reply_rate":30,"thread_rate":20,"weekdays_only":false,' +
    '"send_window_start":8,"send_window_end":18}';
  return (
    `{"mailbox_id":"${idOf(index)}","email":"${emailOf(index)}","status":"active","health_score":98.5,` +
    `"daily_limit":${dailyLimit},"warmup_day":31,"warmup_mode":"balanced",${settings},` +
    `"recent_emails":[${Array.from({ length: recentMails }, (_, newest) => mail(newest)).join(',')}]}`
  );
}

function dns(index: number, version: number): string {
  const failing = index % unsteadyEvery === 0 && version % 2 === 0;
  const record = (status: string, text: string) => `{"status":"${status}","record":"${text}"}`;
  return (
    `{"mailbox_id":"${idOf(index)}","domain":"${domainOf(index)}","checked_at":"${checkedAt(version)}",` +
    `"source":"cached","spf":${record('pass', 'v=spf1 include:_spf.example -all')},` +
    `"dkim":${record(failing ? 'fail' : 'pass', `v=DKIM1; k=rsa; p=${'MIGfMA0GCSqGSIb3DQEB'.repeat(8)}`)},` +
    `"dmarc":${record('pass', 'v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com')}}`
  );
}

function blacklist(index: number, version: number): string {
  return (
    `{"mailbox_id":"${idOf(index)}","domain":"${domainOf(index)}","ip":"198.51.${(index >> 8) % 256}.${index % 256}",` +
    `"checked_at":"${checkedAt(version)}","listed":false,` +
    `"blacklists_found":[],"total_checked":60}`
  );
}
