// What a soak holds its runs to: every POST that the simulated API saw, replayed; every message that a receiver got, by its id; and whether a
// figure stays flat.
import type { LoggedRequest } from '../../tools/simulator/http.ts';
import type { ReceivedAlert, ReceivedMessage } from '../support/receiver.ts';

interface Known {
  mode: string;
  running: boolean;
}

/** Whether the API makes a change that it answers otherwise than with 200. */
export type UnsaidChange = 'made' | 'not_made';

export class ChangeBook {
  readonly #mailboxes = new Map<string, Known>();
  /** `EMAIL CHANGE`, in order. */
  readonly made: string[] = [];
  /** POSTs for what was so already. */
  readonly repeated: string[] = [];
  #seen: number;

  constructor(mailboxes: readonly { id: string; config: { mode: string }; running: boolean }[], now: number) {
    for (const { id, config, running } of mailboxes) this.#mailboxes.set(id, { mode: config.mode, running });
    this.#seen = now;
  }

  /** Takes over what was asked since the last time. */
  take(requests: readonly LoggedRequest[], unsaid: UnsaidChange): void {
    const fresh = requests.filter(({ at, method }) => at > this.#seen && method === 'POST');
    this.#seen = Math.max(this.#seen, ...requests.slice(-1).map(({ at }) => at));
    for (const { body, status } of fresh) this.#post(body ?? {}, status === 200 || unsaid === 'made');
  }

  #post({ mailbox_id: id, action, config }: NonNullable<LoggedRequest['body']>, isMade: boolean): void {
    const known = this.#mailboxes.get(String(id));
    if (!known) throw new Error(`the API knows no mailbox ${String(id)}`);
    const mode =
      typeof config === 'object' && config !== null && 'warmup_mode' in config ? String(config.warmup_mode) : null;
    const change = mode ?? String(action);
    const isSo = mode === null ? known.running === (action === 'resume') : known.mode === mode;
    if (isSo) this.repeated.push(`${String(id)} ${change}`);
    if (!isMade || isSo) return;
    this.made.push(`${String(id)} ${change}`);
    if (mode === null) known.running = action === 'resume';
    else known.mode = mode;
  }
}

interface Entry {
  readonly text: string;
  accepted: number;
}

interface Body {
  readonly data: { readonly alerts: readonly ReceivedAlert[] };
}

export class MessageBook {
  readonly #entries = new Map<string, Entry>();
  readonly #firing = new Set<string>();
  /** Alerts that were announced twice. */
  readonly disorder: string[] = [];
  readonly #reworded = new Set<string>();
  /** Accepted alerts by rule and status. */
  readonly counts = new Map<string, number>();
  /** Accepted events: the rule, and what it is about. */
  readonly events: string[] = [];
  /** Attempts, also those that were refused or lost. */
  attempts = 0;

  /** Takes messages over from the receiver, which grows no further by them. */
  take(notified: ReceivedMessage[]): void {
    for (const message of notified.splice(0)) {
      if (message.to === 'hook') this.#add(message);
    }
  }

  #add({ headers, text, status }: ReceivedMessage): void {
    this.attempts += 1;
    const id = headers['webhook-id'] ?? '';
    const known = this.#entries.get(id);
    if (known && known.text !== text) this.#reworded.add(id);
    const entry = known ?? { text, accepted: 0 };
    this.#entries.set(id, entry);
    if (status !== 200) return;
    entry.accepted += 1;
    if (entry.accepted > 1) return;
    const { alerts } = (JSON.parse(text) as Body).data;
    for (const { fingerprint, rule, status: said, object } of alerts) {
      this.#follow(fingerprint, said);
      if (said === 'event') this.events.push(`${rule} ${object}`);
      this.counts.set(`${rule} ${said}`, (this.counts.get(`${rule} ${said}`) ?? 0) + 1);
    }
  }

  /** An alert is announced, maybe again as a reminder, and resolved. One that ended before it was announced is only reported as that. */
  #follow(fingerprint: string, said: string): void {
    if (said === 'event') return;
    if (said === 'firing' && this.#firing.has(fingerprint)) this.disorder.push(`${fingerprint} ${said}`);
    if (said === 'resolved') this.#firing.delete(fingerprint);
    else this.#firing.add(fingerprint);
  }

  get messages(): number {
    return this.#entries.size;
  }

  /** Ids that were accepted more than once. */
  doubled(): readonly string[] {
    return [...this.#entries].flatMap(([id, { accepted }]) => (accepted > 1 ? [id] : []));
  }

  /** Ids that were never accepted. */
  lost(): readonly string[] {
    return [...this.#entries].flatMap(([id, { accepted }]) => (accepted === 0 ? [id] : []));
  }

  /** Ids under which different texts came. */
  reworded(): readonly string[] {
    return [...this.#reworded];
  }
}

/** How much more the last quarter may have. */
export interface Slack {
  /** A share of the second quarter: 0.1 is a tenth. */
  readonly share: number;
  /** In the figure's unit, beside the share. */
  readonly plus: number;
}

export interface Flatness {
  readonly samples: number;
  readonly secondQuarter: number;
  readonly lastQuarter: number;
  readonly most: number;
  readonly flat: boolean;
}

/** Medians, because collections and growth of buffers come in steps. Throws without eight samples. */
export function flatnessOf(samples: readonly number[], { share, plus }: Slack): Flatness {
  if (samples.length < 8) throw new Error(`${samples.length} samples say nothing`);
  const quarter = Math.floor(samples.length / 4);
  const secondQuarter = medianOf(samples.slice(quarter, 2 * quarter));
  const lastQuarter = medianOf(samples.slice(-quarter));
  const flat = lastQuarter <= secondQuarter * (1 + share) + plus;
  return { samples: samples.length, secondQuarter, lastQuarter, most: Math.max(...samples), flat };
}

function medianOf(samples: readonly number[]): number {
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
