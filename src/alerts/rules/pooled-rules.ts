// Rules beyond one mailbox: a domain over its limits, and an account whose bounce rate has shifted. They never act.
import type { AlertFacts, Subject } from '../../core/alert.ts';
import type { AccountShift, DomainExcess, DomainWeek, PooledWindow } from '../../core/guard/pooled-rules.ts';
import type { Counts } from '../../core/policy.ts';
import { type EpochMs, minuteMs } from '../../core/time.ts';
import {
  allowedText,
  bouncesText,
  capital,
  counted,
  datesText,
  listText,
  onDatesText,
  percentText,
  spanText,
} from '../../core/wording/phrases.ts';
import { accountSubject, ageNumber, type Condition, condition } from '../condition.ts';

export interface PoolKnowledge {
  readonly counted: number;
  /** Mailboxes without current data: missing, unreadable or too old. */
  readonly unknown: number;
  /** Mailboxes that were not read yet since the start of the process. */
  readonly pending: number;
  readonly oldestAt: () => EpochMs | null;
}

export interface DomainShare extends Counts {
  readonly email: string;
}

export interface DomainFinding extends PoolKnowledge {
  readonly account: string;
  readonly domain: string;
  readonly excess: DomainExcess | null;
  /** Returns null if there are no rows. The caller asks only if there is no excess. */
  readonly week: () => DomainWeek | null;
  readonly worst: () => readonly DomainShare[];
}

/** Step of the age in a message, so that the message does not change every minute. */
const ageStepMs = 15 * minuteMs;

export function domainSubject(account: string, domain: string): Subject {
  return accountSubject('shared_bounces', account, domain);
}

export function shiftSubject(account: string): Subject {
  return accountSubject('shared_bounces', account, 'whole account');
}

/** Unknown until all mailboxes were read. One without current data keeps the alert from ending, not from firing. */
export function domainOverLimit(finding: DomainFinding, now: EpochMs): Condition {
  const { account, domain, excess } = finding;
  const window = excess ?? finding.week();
  return condition(domainSubject(account, domain), {
    active: isDomainOver(finding),
    firing: () => [
      excess
        ? `${domain}: ${bouncesText(excess)}, ${counted(excess.mailboxes, 'mailbox', 'mailboxes')} together over the limit`
        : `${domain}: bounces over the limits of its mailboxes`,
      ...(excess ? excessTexts(finding, excess, now) : []),
    ],
    ended: () => [
      `${domain}: bounces are within the limits again`,
      window &&
        `${windowText(window, onDatesText(window.from, window.to))}; their bounce limits allow ${allowedText(window.allowed)}.`,
    ],
    numbers: () => ({
      ...numbersOf(window),
      ...(excess && {
        mailboxes: excess.mailboxes,
        mailboxes_unknown: finding.unknown,
        ...ageNumber(finding.oldestAt(), now),
      }),
    }),
  });
}

function isDomainOver(finding: DomainFinding): Condition['active'] {
  const { excess, week, counted: known, unknown, pending } = finding;
  if (pending > 0 || known === 0) return 'unknown';
  if (excess) return true;
  return unknown === 0 && week()?.isWithinLimits ? false : 'unknown';
}

function excessTexts(finding: DomainFinding, excess: DomainExcess, now: EpochMs): readonly string[] {
  const shares = finding.worst().map(({ email, bounced, sent }) => `${email} (${bounced} of ${sent})`);
  return [
    `Counted since ${datesText(excess.from, excess.from)}. Their limits together allow ${allowedText(excess.allowed)} bounces.`,
    `Most bounces in that time: ${listText(shares)}.`,
    unknownText(finding),
    ageText(finding, now),
    'Warmwarden acts only on single mailboxes, each by its own limit.',
    `Look for a cause that the mailboxes share: the DNS of ${finding.domain}, its blacklists, and the recipient lists.`,
  ];
}

/** The rule shared_bounces is silent if more than one mailbox in this many is unknown. */
const unknownOneIn = 10;

export interface ShiftFinding extends PoolKnowledge {
  readonly account: string;
  /** Comparison with the days before, or null if there is too little to compare. */
  readonly shift: AccountShift | null;
}

export function accountShiftAlert(finding: ShiftFinding, now: EpochMs): Condition {
  const { account, shift } = finding;
  const compared = shift
    ? [
        `${windowText(shift.last, onDatesText(shift.last.from, shift.last.to))}: ${rateText(shift.last)}.`,
        `${windowText(shift.before, 'in the 28 days before')}: ${rateText(shift.before)}.`,
      ]
    : [];
  return condition(shiftSubject(account), {
    active: hasShifted(finding),
    firing: () => [
      `${account}: the bounce rate of the account is far above usual`,
      ...compared,
      shift &&
        `The bounces are on ${counted(shift.domains, 'domain')}: check in the warm-up service whether they are real.`,
      unknownText(finding),
      ageText(finding, now),
      'Warmwarden acts only on single mailboxes, each by its own limit.',
    ],
    ended: () => [`${account}: the bounce rate of the account is as before`, ...compared],
    numbers: () => ({
      ...numbersOf(shift?.last ?? null),
      sent_before: shift?.before.sent ?? null,
      bounced_before: shift?.before.bounced ?? null,
      domains: shift?.domains ?? null,
      mailboxes: finding.counted,
      mailboxes_unknown: finding.unknown,
      ...ageNumber(finding.oldestAt(), now),
    }),
  });
}

function hasShifted({ shift, counted: known, unknown, pending }: ShiftFinding): Condition['active'] {
  if (!shift || (unknown + pending) * unknownOneIn > known + unknown + pending) return 'unknown';
  if (shift.isShifted) return true;
  return shift.hasEnded ? false : 'unknown';
}

/** Returns a text such as `9 bounces in 290 emails WHERE`. */
function windowText(window: PooledWindow, where: string): string {
  return `${capital(bouncesText(window))} ${where}`;
}

function rateText({ bounced, sent }: PooledWindow): string {
  return sent === 0 ? 'no rate' : percentText((bounced * 1e6) / sent);
}

function unknownText({ unknown }: PoolKnowledge): string {
  if (unknown === 0) return '';
  const are = unknown === 1 ? 'is not counted, because its data is' : 'are not counted, because their data is';
  return `${counted(unknown, 'mailbox', 'mailboxes')} ${are} missing, unreadable or too old.`;
}

function ageText({ oldestAt }: PoolKnowledge, now: EpochMs): string {
  const at = oldestAt();
  if (at === null) return '';
  const steps = Math.max(1, Math.ceil((now - at) / ageStepMs));
  return `None of these counts is older than ${spanText(steps * ageStepMs)}.`;
}

function numbersOf(window: PooledWindow | null): AlertFacts['numbers'] {
  return {
    sent: window?.sent ?? null,
    bounced: window?.bounced ?? null,
    allowed_bounces: window && window.allowed / 1e6,
    window_from: window?.from ?? null,
    window_to: window?.to ?? null,
  };
}
