// DNS and blacklist measurements: the service takes one of each every hour, and a new one on request.
import { chanceKey } from './chance.ts';
import type { Mailbox } from './mailbox.ts';

/** How often the service measures on its own; the document does not say. */
const measureEveryMs = 3_600_000;

/** How many lists the service asks. */
export const listsChecked = 24;

const recordNames = ['spf', 'dkim', 'dmarc'] as const;
type RecordName = (typeof recordNames)[number];

export interface DnsRecord {
  readonly status: 'pass' | 'fail';
  readonly record: string | null;
}

/** What a measurement at a time (epoch milliseconds) says about a mailbox's records. */
export function dnsRecords(mailbox: Mailbox, at: number): Record<RecordName, DnsRecord> {
  const broken = new Set(mailbox.incidentsAt(at).flatMap((one) => (one.kind === 'dns' ? one.records : [])));
  const records = {
    spf: `v=spf1 ip4:${sendingIp(mailbox)} -all`,
    dkim: `v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC${chanceKey(mailbox.domain).toString(36)}`,
    dmarc: `v=DMARC1; p=quarantine; rua=mailto:dmarc@${mailbox.domain}`,
  };
  const check = (name: RecordName): DnsRecord =>
    broken.has(name) ? { status: 'fail', record: null } : { status: 'pass', record: records[name] };
  return { spf: check('spf'), dkim: check('dkim'), dmarc: check('dmarc') };
}

/** The lists on which a mailbox's address stands at a time (epoch milliseconds). */
export function listings(mailbox: Mailbox, at: number): string[] {
  const lists = mailbox.incidentsAt(at).flatMap((one) => (one.kind === 'listing' ? one.lists : []));
  return [...new Set(lists)];
}

/** The address that a domain sends from, out of a range that is reserved for examples (RFC 5737). */
export function sendingIp(mailbox: Mailbox): string {
  return `203.0.113.${1 + (chanceKey(mailbox.domain) % 254)}`;
}

/** When each mailbox was last measured for one kind of check. */
export class Measurements {
  readonly #refreshedAt = new Map<string, number>();
  readonly #dropped = new Set<string>();

  /** Takes a new measurement; answers its time. */
  refresh(mailbox: Mailbox, now: number): number {
    this.#dropped.delete(mailbox.id);
    this.#refreshedAt.set(mailbox.id, now);
    return now;
  }

  /** Forgets the newest measurement, so that the next request takes a new one. */
  drop(mailbox: Mailbox): void {
    this.#dropped.add(mailbox.id);
  }

  /** The time of the newest measurement, at most an hour before `now`: only after `drop` a request takes a new one. */
  latest(mailbox: Mailbox, now: number): number {
    if (this.#dropped.has(mailbox.id)) return this.refresh(mailbox, now);
    const offset = chanceKey(mailbox.domain) % measureEveryMs;
    const hourly = Math.floor((now - offset) / measureEveryMs) * measureEveryMs + offset;
    return Math.max(hourly, mailbox.createdAt, this.#refreshedAt.get(mailbox.id) ?? 0);
  }
}
