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

/** A mailbox of an incident, as it was seen last. */
export interface IncidentMailbox {
  readonly account: string;
  readonly mailboxId: string;
  readonly email: string;
  readonly state: MemberState;
  /** Start of that state. */
  readonly since: EpochMs;
  /** Emails in the verdict's window. */
  readonly sent: number;
  readonly bounced: number;
  readonly severity: Severity;
  /** True if its bounces go on or something waits: it keeps the incident open. */
  readonly goesOn: boolean;
}

/** Content of the last notification about an incident. */
export interface IncidentAnnouncement {
  /** Moment of the last notification. */
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
  /** Unique for ever. */
  readonly id: string;
  readonly cause: IncidentCause;
  /** The kind of bounce in the API's words; null when no bounce shows it. */
  readonly kind: string | null;
  /** Moment at which the first mailbox was noticed. */
  readonly beganAt: EpochMs;
  /** Moment at which the shared cause was found. */
  readonly openedAt: EpochMs;
  /** Members in the order in which they joined. No member leaves. */
  readonly members: readonly IncidentMailbox[];
  /** Fingerprints of alerts that are about no single mailbox and belong to it: what is held, a domain's DNS. */
  readonly alerts: readonly string[];
  /** The worst so far. */
  readonly severity: Severity;
  /** Moment at which the latest mailbox joined. */
  readonly joinedAt: EpochMs;
  /** Moment of the latest change. */
  readonly movedAt: EpochMs;
  /** Last notification, or null if there was none. */
  readonly announced: IncidentAnnouncement | null;
  /** End of the incident, or null while it goes on. */
  readonly endedAt: EpochMs | null;
}

/** A mailbox in a message about its incident. */
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
  /** The worst so far. */
  readonly severity: Severity;
  readonly beganAt: EpochMs;
  /** End of the incident, or null while it goes on. */
  readonly endedAt: EpochMs | null;
  /** All mailboxes that are, or were, in it. */
  readonly memberCount: number;
  readonly domainCount: number;
  /** Five worst mailboxes. */
  readonly worst: readonly IncidentMember[];
  /** Address of the incident on the page, or null without a page. */
  readonly pageUrl: string | null;
}
