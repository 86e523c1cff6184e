// Every message that a receiver got, by its id: what was said twice, in other words, or never accepted.
import type { ReceivedAlert, ReceivedMessage } from '../support/receiver.ts';

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
