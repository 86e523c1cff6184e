// Incidents as values: what many mailboxes have in common when they bounce at the same time, from its beginning to its end.
import type { Severity } from './alert.ts';
import type { EpochMs } from './time.ts';

/** Attributes that mailboxes may share, the narrowest first. */
export const sharedAttributes = ['domain', 'ip', 'provider', 'account', 'base_url'] as const;
export type SharedAttribute = (typeof sharedAttributes)[number];

/** Value that all mailboxes of an incident share: an observation, not necessarily the fault. */
export interface IncidentCause {
  readonly attribute: SharedAttribute;
  /** `google`, `acme.example`, `203.0.113.7`, an account's name, a base_url. */
  readonly value: string;
}

/** States of a mailbox in an incident; those that wait for a person come first. */
export const memberStates = ['not_acted', 'failed', 'held', 'paused', 'recovery', 'burst'] as const;
export type MemberState = (typeof memberStates)[number];

export interface IncidentMailbox {
  readonly account: string;
  readonly mailboxId: string;
  readonly email: string;
  readonly state: MemberState;
  readonly since: EpochMs;
  /** Emails in the verdict's window. */
  readonly sent: number;
  readonly bounced: number;
  readonly severity: Severity;
  /** True if its bounces go on or something waits: it keeps the incident open. */
  readonly goesOn: boolean;
}

export interface IncidentAnnouncement {
  readonly at: EpochMs;
  readonly members: number;
  readonly severity: Severity;
  readonly cause: IncidentCause;
  /** Number of alerts in that notification that are about no single mailbox, and no symptoms. */
  readonly alerts: number;
  /** True if only the end is left to announce. */
  readonly updated: boolean;
  /** All that were notified: they are notified of the end. */
  readonly channels: readonly string[];
}

export interface Incident {
  readonly id: string;
  readonly cause: IncidentCause;
  /** The kind of bounce in the API's words; null when no bounce shows it. */
  readonly kind: string | null;
  readonly beganAt: EpochMs;
  readonly openedAt: EpochMs;
  /** Members in the order in which they joined. No member leaves. */
  readonly members: readonly IncidentMailbox[];
  /** Fingerprints of alerts that are about no single mailbox and belong to it: what is held, a domain's DNS. */
  readonly alerts: readonly string[];
  readonly severity: Severity;
  readonly joinedAt: EpochMs;
  readonly movedAt: EpochMs;
  readonly announced: IncidentAnnouncement | null;
  readonly endedAt: EpochMs | null;
}

export interface IncidentMember {
  readonly account: string;
  readonly mailboxId: string;
  readonly email: string;
  /** Line about the guard's action, or the reason for none. */
  readonly line: string;
}

/** Part of a message about its incident. Plain text, not escaped. */
export interface MessageIncident {
  /** Unique for ever; the same in every message from its beginning to its end. */
  readonly id: string;
  /** ended: its last message. Otherwise its first, or that it got worse or wider. */
  readonly step: 'began' | 'grew' | 'ended';
  /** Title of one line: the cause, the number of mailboxes and domains, the beginning, the kind of bounces. */
  readonly title: string;
  /** Sentences about the cause, Warmwarden's actions, held mailboxes, other findings, and the remedy. */
  readonly sentences: readonly string[];
  readonly cause: IncidentCause;
  /** The kind of bounce in the API's words; null when it is not known. */
  readonly kind: string | null;
  readonly severity: Severity;
  readonly beganAt: EpochMs;
  readonly endedAt: EpochMs | null;
  readonly memberCount: number;
  readonly domainCount: number;
  readonly worst: readonly IncidentMember[];
  readonly pageUrl: string | null;
}
