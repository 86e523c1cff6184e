// What a scenario is: a fleet, and what happens to it. Plain values only.
import type { FaultRule } from './fault.ts';
import type { WarmupMode } from './ramp.ts';

export type Provider = 'google' | 'microsoft' | 'zoho' | 'custom';

/** A mailbox as a scenario describes it. */
export interface MailboxSpec {
  readonly email: string;
  readonly provider: Provider;
  readonly mode: WarmupMode;
  /** Whole days between the start of the warm-up and the start of the simulation. */
  readonly startedDaysAgo: number;
  /** Default true. */
  readonly weekdaysOnly?: boolean;
  /** First and last hour (exclusive) in UTC. Default [9, 17]. */
  readonly sendWindow?: readonly [number, number];
}

interface Happening {
  /** A glob on addresses, or an address. */
  readonly mailbox: string;
  /** Narrows the glob to one provider's mailboxes. */
  readonly provider?: Provider;
  /** Milliseconds after the start of the simulation. */
  readonly from: number;
  /** Milliseconds after the start; without it the incident never ends. */
  readonly until?: number;
}

/** Something that goes wrong. Emails are affected when they are sent while it lasts. */
export type Incident =
  /** This share of emails (0 to 1) bounces, evenly spread, so that a scenario keeps its promise on every seed. */
  | (Happening & { readonly kind: 'bounce'; readonly rate: number })
  /** The receivers refuse every email at once. */
  | (Happening & { readonly kind: 'block' })
  | (Happening & { readonly kind: 'dns'; readonly records: readonly ('spf' | 'dkim' | 'dmarc')[] })
  | (Happening & { readonly kind: 'listing'; readonly lists: readonly string[] })
  /** The service can't log in: nothing is sent, and the detail shows `error`. */
  | (Happening & { readonly kind: 'disconnect'; readonly error: string })
  /** The service itself pauses the warm-up, and resumes it at the end; what people do meanwhile stands. */
  | (Happening & { readonly kind: 'service_pause' })
  /** Somebody takes the mailbox out and connects it again: from then on it has another id and no history. */
  | (Happening & { readonly kind: 'reconnect' });

/** A fleet and what happens to it. */
export interface Scenario {
  readonly name: string;
  /** One sentence for people. */
  readonly summary: string;
  readonly fleet: readonly MailboxSpec[];
  readonly incidents: readonly Incident[];
  /** What is put in front of the API's answers. */
  readonly faults?: readonly FaultRule[];
}
