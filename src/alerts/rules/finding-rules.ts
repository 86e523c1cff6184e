// Rules about what mailboxes share: the DNS of a domain, and the blacklists of an IP address.
import type { Subject } from '../../core/alert.ts';
import type { RuleSettings } from '../../core/alert-rules.ts';
import {
  type DnsAnswer,
  type DnsRecordName,
  dnsRecords,
  isSameMeasurement,
  type MeasuredRoute,
} from '../../core/answers.ts';
import { domainOf, type MailboxState } from '../../core/mailbox.ts';
import { fitsGlob } from '../../core/mailbox-pattern.ts';
import { counted, firstText, listText } from '../../core/wording/phrases.ts';
import {
  accountSubject,
  ageNumber,
  type Condition,
  condition,
  type MailboxContext,
  type RulesAfter,
} from '../condition.ts';

export const findingRules: RulesAfter = { dns: [dnsFailing], blacklist: [blacklisted] };

const mailboxesNamed = 3;

const listsNamed = 10;

export function domainObject(mailbox: MailboxState): string {
  return (mailbox.dns?.answer.domain ?? domainOf(mailbox.email)).toLowerCase();
}

/** Returns the domain if the answer shows no IP address. */
export function ipObject(mailbox: MailboxState): string {
  const answer = mailbox.blacklist?.answer;
  return answer?.ip ?? (answer?.domain ?? domainOf(mailbox.email)).toLowerCase();
}

/**
 * Returns unknown if the measurement counted already, in an earlier answer or in a neighbour's. A neighbour's
 * measurement against the alert did not count while this mailbox spoke for the alert.
 */
function ifNew(
  route: MeasuredRoute,
  active: Condition['active'],
  mailbox: MailboxState,
  sight: {
    readonly before: MailboxState | null;
    readonly neighbours: readonly MailboxState[];
    readonly wasActive: boolean;
  },
): Condition['active'] {
  const { before, neighbours, wasActive } = sight;
  const counted = active === false && wasActive ? [before] : [before, ...neighbours];
  const shown = mailbox[route]?.answer;
  return counted.some((one) => isSameMeasurement(one?.[route]?.answer, shown)) ? 'unknown' : active;
}

function failingRecords(mailbox: MailboxState): readonly DnsRecordName[] {
  const dns = mailbox.dns?.answer;
  return dns ? dnsRecords.filter((name) => dns.records[name].pass === false) : [];
}

/** Fires after two measurements. A mailbox of the domain that last saw a failure keeps it: their DKIM may differ. */
function dnsFailing(mailbox: MailboxState, context: MailboxContext): Condition {
  const dns = mailbox.dns?.answer;
  const domain = domainObject(mailbox);
  const failing = failingRecords(mailbox);
  const found = failing.length > 0;
  const isPassing = dns !== undefined && dnsRecords.every((name) => dns.records[name].pass === true);
  const neighbours = context.neighbours().filter((other) => domainObject(other) === domain);
  const others = neighbours.filter((other) => failingRecords(other).length > 0);
  const unlisted = failing.filter((name) => dns?.records[name].isUnlisted);
  const { before } = context;
  const wasActive = before !== null && failingRecords(before).length > 0;
  const active = found ? true : isPassing && others.length === 0 ? false : 'unknown';
  const onlyUnlisted = unlisted.length === failing.length;
  const says = (name: DnsRecordName) => `"${dns?.records[name].status}"`;
  return condition(accountSubject('dns_failing', mailbox.account, domain), {
    severity: found && onlyUnlisted ? 'warning' : 'critical',
    active: ifNew('dns', active, mailbox, { before, neighbours, wasActive }),
    stillShown: found,
    observations: 2,
    firing: () => [
      onlyUnlisted
        ? `${domain}: ${listText(failing.map((name) => `${nameOf(name)} is ${says(name)}`))}`
        : `${domain}: ${listText(failing.map(nameOf))} ${failing.length === 1 ? 'does' : 'do'} not pass`,
      ...(dns ? failing.map((name) => recordText(name, dns)) : []),
      `This affects ${mailboxesText([mailbox, ...others])}. Emails from this domain may land in spam until its DNS is repaired. Warmwarden does nothing about it.`,
      `Compare the DNS records of ${domain} with what the mailbox provider asks for.`,
      unlisted.length > 0 &&
        `Warmwarden does not know ${listText([...new Set(unlisted.map(says))])}: put ${new Set(unlisted.map(says)).size === 1 ? 'it' : 'each'} into one of the lists of api.dns_words.`,
    ],
    ended: () => [`${domain}: SPF, DKIM and DMARC pass again`],
    numbers: () => ({
      ...Object.fromEntries(dnsRecords.map((name) => [`${name}_status`, dns?.records[name].status ?? null])),
      checked_at: dns?.checkedAt ?? null,
      mailboxes_failing: others.length + Number(found),
      seen_with: mailbox.email,
      ...ageNumber(mailbox.dns?.at, context.now),
    }),
  });
}

/** Sorts by name, so the words do not depend on which mailbox was read last. */
function mailboxesText(mailboxes: readonly MailboxState[]): string {
  const emails = mailboxes.map(({ email }) => email).sort();
  const more = emails.length - mailboxesNamed;
  if (more <= 0) return listText(emails);
  return `${emails.slice(0, mailboxesNamed).join(', ')} and ${counted(more, 'other mailbox', 'other mailboxes')}`;
}

export function concerns({ account, rule, mailboxId, object }: Subject, mailbox: MailboxState): boolean {
  if (mailboxId !== null || account !== mailbox.account) return false;
  if (rule === 'dns_failing') return object === domainObject(mailbox) && failingRecords(mailbox).length > 0;
  return rule === 'blacklisted' && object === ipObject(mailbox) && mailbox.blacklist?.answer.listed === true;
}

function recordText(name: DnsRecordName, dns: DnsAnswer): string {
  const { status, record } = dns.records[name];
  const said =
    status === null
      ? `The API reports that ${nameOf(name)} does not pass`
      : `The API reports "${status}" for ${nameOf(name)}`;
  return record ? `${said}. The record is: ${record}.` : `${said} and shows no record.`;
}

function nameOf(name: DnsRecordName): string {
  return name.toUpperCase();
}

interface Listing {
  /** True if it is listed, or null if the answer is inconclusive. */
  readonly listed: boolean | null;
  readonly lists: readonly string[];
  readonly found: number;
}

/** Lists that the API only counts without a name cannot be ignored. */
function listingOf(mailbox: MailboxState, { ignore, minLists }: RuleSettings['blacklisted']): Listing {
  const answer = mailbox.blacklist?.answer;
  const lists = (answer?.lists ?? []).filter((name) => !ignore.some((glob) => fitsGlob(glob, name)));
  const ignored = (answer?.lists.length ?? 0) - lists.length;
  // A listing without a named list counts as one.
  const found = Math.max((answer?.found || 1) - ignored, 0);
  const listed = answer?.listed ?? null;
  return { listed: listed === true ? found >= minLists : listed, lists, found };
}

/** Fires when listed once, and ends after two measurements without a listing. */
function blacklisted(mailbox: MailboxState, context: MailboxContext): Condition {
  const settings = context.rules.blacklisted;
  const { listed, lists, found } = listingOf(mailbox, settings);
  const answer = mailbox.blacklist?.answer;
  const object = ipObject(mailbox);
  const major = lists.filter((name) => settings.major.some((glob) => fitsGlob(glob, name)));
  const isNamed = answer?.found !== 0;
  const onLists = counted(found, 'blacklist');
  const ofAll = answer?.checked == null ? '' : ` of ${answer.checked} checked`;
  const neighbours = context.neighbours().filter((other) => ipObject(other) === object);
  const others = neighbours.filter((other) => listingOf(other, settings).listed === true);
  const active = listed === false && others.length > 0 ? 'unknown' : (listed ?? 'unknown');
  const { before } = context;
  const wasActive = before !== null && listingOf(before, settings).listed === true;
  return condition(accountSubject('blacklisted', mailbox.account, object), {
    severity: listed && major.length > 0 ? 'critical' : 'warning',
    active: ifNew('blacklist', active, mailbox, { before, neighbours, wasActive }),
    stillShown: listed === true,
    clearObservations: 2,
    firing: () => [
      `${object}: listed${isNamed ? ` on ${onLists}` : ', the API does not say where'}`,
      isNamed
        ? `${object} is on ${onLists}${ofAll}${namesText(lists)}.`
        : `The API says that ${object} is listed, and names no list.`,
      major.length > 0 && `Critical by your setting "major": ${listText(major.slice(0, listsNamed))}.`,
      `${mailboxesText([mailbox, ...others])} ${others.length === 0 ? 'sends' : 'send'} from it. Warmwarden does nothing about it. Find the cause before you ask the lists to remove it.`,
    ],
    ended: () => [`${object}: no longer on a blacklist`, 'Two checks in a row found it on no blacklist that counts.'],
    numbers: () => ({
      lists_found: answer?.found ?? null,
      lists_checked: answer?.checked ?? null,
      seen_with: mailbox.email,
      ...ageNumber(mailbox.blacklist?.at, context.now),
    }),
  });
}

function namesText(lists: readonly string[]): string {
  if (lists.length === 0) return '';
  return `: ${lists.length > listsNamed ? firstText(lists, listsNamed) : listText(lists)}`;
}
