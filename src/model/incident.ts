// Incidents as values: what many mailboxes have in common when they bounce at the same time, from its beginning to its end.
import type { Severity } from './alert.ts';
import type { EpochMs } from './time.ts';

/** What mailboxes may have in common, the narrowest first. */
export const sharedAttributes = ['domain', 'ip', 'provider', 'account', 'base_url'] as const;
export type SharedAttribute = (typeof sharedAttributes)[number];

/** What all mailboxes of an incident have in common: an observation, which need not be the fault. */
export interface IncidentCause {
  readonly attribute: SharedAttribute;
  /** `google`, `acme.example`, `203.0.113.7`, an account's name, a base_url. */
  readonly value: string;
}

/** A mailbox in a message about its incident. */
export interface IncidentMember {
  readonly account: string;
  readonly mailboxId: string;
  readonly email: string;
  /** What was done about it, or why nothing was, in one line. */
  readonly line: string;
}

/** What a message says of the incident that it is about. Plain text, not escaped. */
export interface MessageIncident {
  /** Unique for ever; the same in every message from its beginning to its end. */
  readonly id: string;
  /** ended: its last message. Otherwise its first, or that it got worse or wider. */
  readonly step: 'began' | 'grew' | 'ended';
  /** One line: how many, on how many domains, what they have in common, since when, which bounces. */
  readonly title: string;
  /** What Warmwarden did, what is held, what was listed with it, what to do. */
  readonly sentences: readonly string[];
  readonly cause: IncidentCause;
  /** The kind of bounce in the API's words; null when it is not known. */
  readonly kind: string | null;
  /** The worst so far. */
  readonly severity: Severity;
  readonly beganAt: EpochMs;
  /** null while it goes on. */
  readonly endedAt: EpochMs | null;
  /** All mailboxes that are, or were, in it. */
  readonly memberCount: number;
  readonly domainCount: number;
  /** Of them the worst five. */
  readonly worst: readonly IncidentMember[];
  /** Where the page shows it; null when there is no page. */
  readonly pageUrl: string | null;
}
