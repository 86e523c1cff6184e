// Rules that read one endpoint each: DNS of a domain, blacklists of an IP address, connection of a mailbox.
import type { Subject } from '../../core/alert.ts';
import {
  type DnsAnswer,
  type DnsRecordName,
  dnsRecords,
  isSameMeasurement,
  type MeasuredRoute,
} from '../../core/answers.ts';
import { saysDisconnected } from '../../core/guard/run-state.ts';
import { domainOf, type MailboxState } from '../../core/mailbox.ts';
import { fitsGlob } from '../../core/mailbox-pattern.ts';
import type { RuleSettings } from '../../core/rule-settings.ts';
import { type EpochMs, secondMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { counted, firstText, listText } from '../../core/wording/phrases.ts';
import { type Condition, type MailboxContext, pageLink, subjectOf } from '../condition.ts';

/** Maximum mailboxes that a sentence names. */
const mailboxesNamed = 3;

/** Maximum names of lists in a sentence. */
const listsNamed = 10;

/** Returns the domain of a mailbox's DNS answer. */
export function domainObject(mailbox: MailboxState): string {
  return (mailbox.dns?.answer.domain ?? domainOf(mailbox.email)).toLowerCase();
}

/** Returns the IP address of a mailbox's blacklist answer, or its domain if no address is shown. */
export function ipObject(mailbox: MailboxState): string {
  const answer = mailbox.blacklist?.answer;
  return answer?.ip ?? (answer?.domain ?? domainOf(mailbox.email)).toLowerCase();
}

interface RecordSight {
  readonly active: Condition['active'];
  /** Mailbox before the answer. `neighbours` share its domain or IP address. */
  readonly before: MailboxState | null;
  readonly neighbours: readonly MailboxState[];
  /** True if the previous answer spoke for the alert. */
  readonly wasActive: boolean;
}

/**
 * Returns the result of the answer, or unknown if its measurement counted already: in an earlier answer, or in a
 * neighbour's. A neighbour's measurement against the alert did not count while this mailbox spoke for the alert.
 */
function ifNew(route: MeasuredRoute, mailbox: MailboxState, sight: RecordSight): Condition['active'] {
  const { active, before, neighbours, wasActive } = sight;
  const counted = active === false && wasActive ? [before] : [before, ...neighbours];
  const shown = mailbox[route]?.answer;
  return counted.some((one) => isSameMeasurement(one?.[route]?.answer, shown)) ? 'unknown' : active;
}

function failingRecords(mailbox: MailboxState): readonly DnsRecordName[] {
  const dns = mailbox.dns?.answer;
  return dns ? dnsRecords.filter((name) => dns.records[name].pass === false) : [];
}

/**
 * dns_failing, per domain: a record does not pass in two measurements. Inconclusive records neither fire nor resolve. A
 * mailbox whose records all pass ends nothing while another mailbox of the domain last saw a failure, because their
 * DKIM may differ.
 */
export function dnsFailing(mailbox: MailboxState, context: MailboxContext): Condition {
  const dns = mailbox.dns?.answer;
  const domain = domainObject(mailbox);
  const failing = failingRecords(mailbox);
  const passing = dns !== undefined && dnsRecords.every((name) => dns.records[name].pass === true);
  const found = failing.length > 0;
  const neighbours = context.neighbours().filter((other) => domainObject(other) === domain);
  const others = neighbours.filter((other) => failingRecords(other).length > 0);
  const known = failing.filter((name) => !dns?.records[name].isUnlisted);
  const active = found ? true : passing && others.length === 0 ? false : 'unknown';
  const { before } = context;
  const wasActive = before !== null && failingRecords(before).length > 0;
  return {
    subject: objectSubject('dns_failing', mailbox, domain),
    severity: found && known.length === 0 ? 'warning' : 'critical',
    active: ifNew('dns', mailbox, { active, before, neighbours, wasActive }),
    stillShown: found,
    forMs: 0,
    observations: 2,
    clearObservations: 1,
    facts: {
      title: found
        ? `${domain}: ${known.length > 0 ? notPassingText(failing) : listText(failing.map((name) => wordText(name, dns)))}`
        : `${domain}: SPF, DKIM and DMARC pass again`,
      sentences:
        dns && found
          ? [
              ...failing.map((name) => recordText(name, dns)),
              `This affects ${mailboxesText([mailbox, ...others])}. Emails from this domain may land in spam until its DNS is repaired.`,
              `Compare the DNS records of ${domain} with what the mail provider asks for.`,
              ...unlistedText(failing, dns),
            ]
          : [`All three records of ${domain} pass.`],
      numbers: {
        ...Object.fromEntries(dnsRecords.map((name) => [`${name}_status`, dns?.records[name].status ?? null])),
        checked_at: dns?.checkedAt ?? null,
        mailboxes_failing: others.length + Number(found),
        ...seenWith(mailbox, mailbox.dns?.at, context),
      },
    },
  };
}

function unlistedText(names: readonly DnsRecordName[], { records }: DnsAnswer): readonly string[] {
  const words = new Set(names.flatMap((name) => (records[name].isUnlisted ? [`"${records[name].status}"`] : [])));
  if (words.size === 0) return [];
  const them = words.size === 1 ? 'it' : 'each';
  return [`Warmwarden does not know ${listText([...words])}: put ${them} into one of the lists of api.dns_words.`];
}

function notPassingText(names: readonly DnsRecordName[]): string {
  return `${listText(names.map(nameOf))} ${names.length === 1 ? 'does' : 'do'} not pass`;
}

function wordText(name: DnsRecordName, dns: DnsAnswer | undefined): string {
  return `${nameOf(name)} is "${dns?.records[name].status}"`;
}

/** Names the first mailboxes by name and counts the rest, so the words do not depend on which mailbox was read last. */
function mailboxesText(mailboxes: readonly MailboxState[]): string {
  const emails = mailboxes.map(({ email }) => email).sort();
  const more = emails.length - mailboxesNamed;
  if (more <= 0) return listText(emails);
  return `${emails.slice(0, mailboxesNamed).join(', ')} and ${counted(more, 'other mailbox', 'other mailboxes')}`;
}

/** Returns true if an alert of a domain or IP address is also about this mailbox, whose last answer shows the same. */
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

/** Returns the name as people write it, such as `SPF`. */
function nameOf(name: DnsRecordName): string {
  return name.toUpperCase();
}

interface Listing {
  /** True if listed, or null if the answer is inconclusive. */
  readonly listed: boolean | null;
  readonly lists: readonly string[];
  readonly found: number;
}

/** Returns the part of an answer that counts. Lists that the API only counts without a name cannot be ignored. */
function listingOf(mailbox: MailboxState, { ignore, minLists }: RuleSettings['blacklisted']): Listing {
  const answer = mailbox.blacklist?.answer;
  const lists = (answer?.lists ?? []).filter((name) => !ignore.some((glob) => fitsGlob(glob, name)));
  const ignored = (answer?.lists.length ?? 0) - lists.length;
  // A listing without a named list counts as one.
  const found = Math.max((answer?.found || 1) - ignored, 0);
  const listed = answer?.listed ?? null;
  return { listed: listed === true ? found >= minLists : listed, lists, found };
}

/**
 * blacklisted, per IP address: fires when listed once, and ends after two measurements without a listing. Critical on a
 * list that the settings call major.
 */
export function blacklisted(mailbox: MailboxState, context: MailboxContext): Condition {
  const settings = context.rules.blacklisted;
  const { listed, lists, found } = listingOf(mailbox, settings);
  const object = ipObject(mailbox);
  const major = lists.filter((name) => settings.major.some((glob) => fitsGlob(glob, name)));
  const somewhere = mailbox.blacklist?.answer.found === 0;
  const onLists = counted(found, 'blacklist');
  const checked = mailbox.blacklist?.answer.checked ?? null;
  const neighbours = context.neighbours().filter((other) => ipObject(other) === object);
  const others = neighbours.filter((other) => listingOf(other, settings).listed === true);
  const active = listed === false && others.length > 0 ? 'unknown' : (listed ?? 'unknown');
  const { before } = context;
  const wasActive = before !== null && listingOf(before, settings).listed === true;
  return {
    subject: objectSubject('blacklisted', mailbox, object),
    severity: listed && major.length > 0 ? 'critical' : 'warning',
    active: ifNew('blacklist', mailbox, { active, before, neighbours, wasActive }),
    stillShown: listed === true,
    forMs: 0,
    observations: 1,
    clearObservations: 2,
    facts: {
      title: listed
        ? `${object}: listed${somewhere ? ', the API does not say where' : ` on ${onLists}`}`
        : `${object}: no longer on a blacklist`,
      sentences: listed
        ? [
            somewhere
              ? `The API says that ${object} is listed, and names no list.`
              : `${object} is on ${onLists}${checked === null ? '' : ` of ${checked} checked`}${namesText(lists)}.`,
            ...(major.length > 0
              ? [`The lists that matter most to receivers: ${listText(major.slice(0, listsNamed))}.`]
              : []),
            `${mailboxesText([mailbox, ...others])} ${others.length === 0 ? 'sends' : 'send'} from it. Find out why it was listed before you ask the lists to remove it.`,
          ]
        : [`Two checks in a row did not find ${object} on any blacklist that counts.`],
      numbers: {
        lists_found: mailbox.blacklist?.answer.found ?? null,
        lists_checked: checked,
        ...seenWith(mailbox, mailbox.blacklist?.at, context),
      },
    },
  };
}

function namesText(lists: readonly string[]): string {
  if (lists.length === 0) return '';
  return `: ${lists.length > listsNamed ? firstText(lists, listsNamed) : listText(lists)}`;
}

/**
 * mailbox_unwell, connection: fires after two observations. The list shows only a status, so it cannot resolve an error
 * that the detail still shows, and an old detail is no second observation.
 */
export function mailboxDisconnected(
  answered: 'mailbox' | 'mailboxes',
  mailbox: MailboxState,
  context: MailboxContext,
): Condition {
  const active = answered === 'mailbox' ? byDetail(mailbox) : byList(mailbox);
  const detail = mailbox.detail?.answer;
  const status = answered === 'mailbox' ? detail?.status : mailbox.entry.answer.status;
  const error = detail?.connection === 'error' ? detail.connectionError : null;
  return {
    subject: subjectOf('mailbox_unwell', mailbox, 'connection'),
    severity: 'critical',
    active,
    forMs: 0,
    observations: 2,
    clearObservations: 1,
    facts: {
      title: active === true ? `${mailbox.email}: disconnected` : `${mailbox.email}: connected again`,
      sentences:
        active === true
          ? [
              `The mailbox app has lost its connection to ${mailbox.email}, so it neither sends nor receives.`,
              ...(error ? [`The error: ${sentence(error)}`] : []),
              `Its status is ${status ?? 'not shown'}. Connect it again in the mailbox app.`,
            ]
          : [`${mailbox.email} is connected. Its status is ${status ?? 'not shown'}.`],
      numbers: {
        status: status ?? null,
        connection_error: error,
        ...seenWith(mailbox, answered === 'mailbox' ? mailbox.detail?.at : mailbox.entry.at, context),
      },
    },
  };
}

function byDetail(mailbox: MailboxState): Condition['active'] {
  const detail = mailbox.detail?.answer;
  if (!detail) return 'unknown';
  if (detail.connection === 'error' || saysDisconnected(detail.status)) return true;
  const doubted = detail.connection === 'unclear' || saysDisconnected(mailbox.entry.answer.status);
  return doubted ? 'unknown' : false;
}

function byList(mailbox: MailboxState): Condition['active'] {
  const status = mailbox.entry.answer.status;
  if (saysDisconnected(status)) return true;
  const detail = mailbox.detail?.answer;
  const fine = detail === undefined || (detail.connection === 'connected' && !saysDisconnected(detail.status));
  return fine && status !== null ? false : 'unknown';
}

function objectSubject(rule: Subject['rule'], mailbox: MailboxState, object: string): Subject {
  return { rule, account: mailbox.account, mailboxId: null, email: null, object };
}

function seenWith(
  mailbox: MailboxState,
  at: EpochMs | undefined,
  context: MailboxContext,
): Condition['facts']['numbers'] {
  const link = pageLink(context.pageUrl, mailbox.account, mailbox.id);
  const age = at === undefined ? null : Math.max(0, Math.round((context.now - at) / secondMs));
  return { seen_with: mailbox.email, data_age_seconds: age, ...link };
}
