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

/** What has become of a mailbox in an incident, what waits for a person first. */
export const memberStates = ['not_acted', 'failed', 'held', 'paused', 'recovery', 'burst'] as const;
export type MemberState = (typeof memberStates)[number];

/** A mailbox of an incident, as it was seen last. */
export interface IncidentMailbox {
  readonly account: string;
  readonly mailboxId: string;
  readonly email: string;
  readonly state: MemberState;
  /** Since when it is in that state. */
  readonly since: EpochMs;
  /** Of the verdict's window. */
  readonly sent: number;
  readonly bounced: number;
  readonly severity: Severity;
  /** Its bounces go on, or something waits: it keeps the incident from ending. */
  readonly goesOn: boolean;
}

/** What people know of an incident. */
export interface IncidentAnnouncement {
  /** When they were notified last. */
  readonly at: EpochMs;
  readonly members: number;
  readonly severity: Severity;
  readonly cause: IncidentCause;
  /** With how many alerts that are about no single mailbox, and no symptoms, they were notified. */
  readonly alerts: number;
  /** Nothing but the end is to come. */
  readonly updated: boolean;
  /** All that were notified: they are notified of the end. */
  readonly channels: readonly string[];
}

export interface Incident {
  /** Unique for ever. */
  readonly id: string;
  readonly cause: IncidentCause;
  /** The kind of bounce in the API's words; null when no bounce shows it. */
  readonly kind: string | null;
  /** When the first of its mailboxes was noticed. */
  readonly beganAt: EpochMs;
  /** When it was seen that they share a cause. */
  readonly openedAt: EpochMs;
  /** In the order in which they joined. None ever leaves. */
  readonly members: readonly IncidentMailbox[];
  /** Fingerprints of alerts that are about no single mailbox and belong to it: what is held, a domain's DNS. */
  readonly alerts: readonly string[];
  /** The worst so far. */
  readonly severity: Severity;
  /** When a mailbox joined last. */
  readonly joinedAt: EpochMs;
  /** When something about it changed last. */
  readonly movedAt: EpochMs;
  /** null: nobody was notified yet. */
  readonly announced: IncidentAnnouncement | null;
  /** null while it goes on. */
  readonly endedAt: EpochMs | null;
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
  /** One line: what they have in common, how many, on how many domains, since when, which bounces. */
  readonly title: string;
  /** What is common to them, what Warmwarden did, what is held, what else was seen, what to do. */
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
