// A message as plain text, in the order in which people read it: the headline, what it is about, the list, the links. Each
// channel writes it in its own form and within its own limits. Pure.
import { groupName } from '../alerts/group-name.ts';
import { countsByRule, type GroupMessage } from '../alerts/grouping.ts';
import { isPause } from '../alerts/routing.ts';
import { isDisarming } from '../alerts/rules/protection-rule.ts';
import type { Alert, Severity, Transition } from '../core/alert.ts';
import type { MessageIncident } from '../core/incident.ts';
import { alertSilencePath, groupSilencePath, mailboxPath, resumePath } from '../core/page-links.ts';
import type { EpochMs } from '../core/time.ts';
import { momentText, numberText, spanText, visibleText } from '../core/wording/phrases.ts';
import type { Notice } from './channel.ts';

/** What messages for people are written with. */
export interface ForPeople extends PageAddresses {
  /** The zone in which people read times: an IANA name. Asked each time, because a reload may change it. */
  readonly timeZone: () => string;
}

/** One of several that a message lists. */
export interface MessageItem {
  readonly head: string;
  readonly sentences: readonly string[];
  /** Its rule, and since when; may be empty. */
  readonly foot: string;
  /** Where it is on the page; null when it has no place of its own. */
  readonly url: string | null;
}

/** Without control and direction characters, not escaped. Commands stand between backticks. */
export interface MessageText {
  readonly headline: string;
  readonly tone: Severity | 'resolved';
  /** What it is about, before the list: a paragraph each. */
  readonly lead: readonly string[];
  /** The worst first. */
  readonly items: readonly MessageItem[];
  /** How many there are besides the items. */
  readonly more: number;
  readonly links: readonly MessageLink[];
  /** The account, the rule, and when the message was made. */
  readonly foot: string;
}

/** Alerts that one message describes; the others are counted. */
const maxItems = 20;
/** Lines that one section of a digest has. */
const maxNoticeLines = 15;

export function messageText(message: GroupMessage, people: ForPeople): MessageText {
  const { transitions, account, rule, severity, kind, at } = message;
  const zone = people.timeZone();
  const links = linksOf(message, people);
  const parts = message.incident ? [message.incident.id] : [account, rule];
  const foot = [...parts, momentText(at, zone)].filter(Boolean).join(' · ');
  const about = { headline: messageTitle(message), tone: kind === 'resolved' ? kind : severity, links, foot };
  const [only, ...others] = transitions;
  if (message.incident === null && only && others.length === 0) {
    const lead = [...only.alert.facts.sentences, timesText(only, zone)];
    return visible({ ...about, lead, items: [], more: 0 });
  }
  const { incident } = message;
  const { lead, items, count } = incident ? incidentList(incident, message, people) : alertList(message, zone);
  return visible({ ...about, lead, items, more: count - items.length });
}

function alertList(message: GroupMessage, zone: string) {
  const { transitions, rule } = message;
  const lead = rule === null ? [countsText(message)] : [];
  const items = transitions.slice(0, maxItems).map((transition) => itemOf(transition, zone));
  return { lead, items, count: transitions.length };
}

function incidentList(
  { sentences, worst, memberCount }: MessageIncident,
  message: GroupMessage,
  { pageUrl }: PageAddresses,
) {
  const items = worst.map(({ account, mailboxId: id, line }) => {
    const url = pageUrl === null ? null : `${pageUrl}${mailboxPath({ account, id })}`;
    return { head: line, sentences: [], foot: '', url };
  });
  const counts = message.transitions.length > 0 ? [`In this message: ${countsText(message)}`] : [];
  return { lead: [...sentences, ...counts], items, count: Math.max(memberCount, items.length) };
}

function itemOf(transition: Transition, zone: string): MessageItem {
  const { alert } = transition;
  const { title, sentences } = alert.facts;
  return {
    head: `${leadOf(transition)}${title}`,
    sentences,
    foot: `${alert.rule} · ${timesText(transition, zone)}`,
    url: placeOf(alert),
  };
}

/** The same for what is about no alert. */
export function noticeText({ title, at, sections }: Notice, { pageUrl, timeZone }: ForPeople): MessageText {
  const items = sections.map(({ heading, lines }) => {
    const said = lines.filter((line) => line !== '');
    const more = moreText(said.length - maxNoticeLines);
    const sentences = [...said.slice(0, maxNoticeLines), ...(more === null ? [] : [more])];
    return { head: heading, sentences, foot: '', url: null };
  });
  const foot = momentText(at, timeZone());
  return visible({ headline: title, tone: 'info', lead: [], items, more: 0, links: linkToPage(pageUrl), foot });
}

function visible(text: MessageText): MessageText {
  return {
    ...text,
    headline: visibleText(text.headline),
    lead: text.lead.map(visibleText),
    items: text.items.map(({ head, sentences, foot, url }) => ({
      head: visibleText(head),
      sentences: sentences.map(visibleText),
      foot: visibleText(foot),
      url,
    })),
    foot: visibleText(text.foot),
  };
}

/** How an alert's line begins where a message is about several. */
export function leadOf({ kind, brief }: Transition): string {
  return brief ? `${briefLead}: ` : leads[kind];
}

const leads: Readonly<Record<Transition['kind'], string>> = {
  firing: '',
  event: '',
  worsened: 'Worse: ',
  reminder: 'Still: ',
  resolved: 'Resolved: ',
};

/** Since when, or from when to when. */
export function timesText({ kind, alert }: Transition, zone: string): string {
  if (kind === 'event') return momentText(alert.since, zone);
  return kind === 'resolved' ? endedText(alert, zone) : `Since ${momentText(alert.since, zone)}`;
}

function endedText({ since, resolvedAt }: Alert, zone: string): string {
  const until: EpochMs = resolvedAt ?? since;
  const [from, to] = [momentText(since, zone), momentText(until, zone)];
  return from === to
    ? `On ${from}, for ${spanText(until - since)}`
    : `From ${from} to ${to}, ${spanText(until - since)}`;
}

/** What stands below a list that was cut; null when it is whole. */
export function moreText(left: number): string | null {
  return left > 0 ? `and ${numberText(left)} more: see the page.` : null;
}

/** As many items as fit, the first ones, and how many of all are left out. `sizeOf`: what an item takes of `room`. */
export function fitting<Item>(
  { items, more }: { readonly items: readonly Item[]; readonly more: number },
  room: number,
  sizeOf: (item: Item) => number,
): { readonly items: readonly Item[]; readonly left: number } {
  let used = 0;
  const kept = items.findIndex((item) => {
    used += sizeOf(item);
    return used > room;
  });
  const fit = kept < 0 ? items : items.slice(0, kept);
  return { items: fit, left: items.length - fit.length + more };
}

/** At most `max` UTF-16 units, with an ellipsis where something was cut. No character is cut in half. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, Math.max(0, max - 1));
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}

// The one line of a message, for headers, fallbacks and the list of deliveries. Plain text, not escaped.

/** How the message leads about what began and resolved before it could be sent. */
const briefLead = 'Began and resolved';

/** Rules that a title names when a message is about several. */
const rulesNamed = 4;

/**
 * `Critical: a@b.example: warm-up paused`, `Resolved: ...`; of an incident its title; for several `Critical: acme: DNS failing (12, 3 of them
 * resolved)`; for several rules `Critical: DNS failing (2), stale statistics (30)`.
 */
export function messageTitle(message: GroupMessage): string {
  const { transitions, kind, rule, account } = message;
  const first = transitions[0];
  const lead = titleLead(message);
  if (message.incident) return `${lead}: ${message.incident.title}`;
  if (transitions.length === 1 && first) return `${lead}: ${first.alert.facts.title}`;
  const whose = account === null || account === '' ? '' : `${account}: `;
  const isUnstable = kind !== 'resolved' && transitions.every(({ alert }) => alert.unstable);
  const unstable = isUnstable ? ', unstable' : '';
  if (rule === null) {
    const counts = countsByRule(transitions);
    const named = counts.slice(0, rulesNamed).map(({ rule: of, count }) => `${groupName(of, transitions)} (${count})`);
    const more = counts.length > named.length ? ` and ${counts.length - named.length} more` : '';
    return `${lead}: ${whose}${named.join(', ')}${more}${unstable}`;
  }
  const ended = transitions.filter((transition) => transition.kind === 'resolved').length;
  const note = ended > 0 && kind !== 'resolved' ? `, ${ended} of them resolved` : '';
  return `${lead}: ${whose}${groupName(rule, transitions)} (${transitions.length}${note})${unstable}`;
}

/** `DNS failing (2) · stale statistics (30, 4 resolved)`: how many of each rule, all of them. */
export function countsText({ transitions }: GroupMessage): string {
  const parts = countsByRule(transitions).map(({ rule, count, resolved }) => {
    return `${groupName(rule, transitions)} (${count}${resolved > 0 ? `, ${resolved} resolved` : ''})`;
  });
  return parts.join(' · ');
}

function titleLead({ kind, severity, transitions, incident, rule }: GroupMessage): string {
  const word = severity.charAt(0).toUpperCase() + severity.slice(1);
  if (kind === 'resolved') return !incident && transitions.every(({ brief }) => brief) ? briefLead : 'Resolved';
  if (kind === 'reminder') return `Still ${severity}`;
  if (kind !== 'worsened') return word;
  // The same outage for another reason, which calls for something else.
  return rule === 'store_failing' ? `New cause, ${severity}` : `Worse, ${severity}`;
}

// The links of a message: to what it is about, to its runbook, and to the page with a command prepared.

/** Where the links of messages lead. */
export interface PageAddresses {
  /** Where the page is; null when there is none. */
  readonly pageUrl: string | null;
  /** The configured address of the page. Without it no command is prepared: the page may open on one machine only. */
  readonly publicUrl: string | null;
}

/** `name` tells the links of one message apart. */
export interface MessageLink {
  readonly name: 'page_url' | 'runbook_url' | 'resume_url' | 'silence_url';
  readonly label: string;
  readonly url: string;
}

/** What a receiver takes in one address. */
const maxUrl = 600;
const silenceFor = '4h';

/** The links of a message: of its incident, of its only alert, or of what its alerts have in common. */
export function linksOf(message: GroupMessage, page: PageAddresses): readonly MessageLink[] {
  if (message.incident) return linkToPage(message.incident.pageUrl ?? page.pageUrl);
  const [only, ...others] = message.transitions;
  if (only && others.length === 0) return linksOfOne(only, page);
  const { rule, account } = message;
  const [first, ...more] = message.transitions.filter(canBeSilenced).map(({ alert }) => alert);
  const silence =
    rule === null || account === null || first === undefined
      ? []
      : preparedLink('silence_url', 'Silence 4 h', groupSilencePath([first, ...more], silenceFor), page);
  return [...linkToPage(page.pageUrl), ...silence];
}

function linksOfOne(transition: Transition, page: PageAddresses): readonly MessageLink[] {
  const { alert } = transition;
  const { page_url: open, runbook_url: runbook } = alert.facts.numbers;
  const { account, mailboxId: id } = alert;
  const resume =
    isPause(transition) && id !== null ? preparedLink('resume_url', 'Resume', resumePath({ account, id }), page) : [];
  const silence = canBeSilenced(transition)
    ? preparedLink('silence_url', 'Silence 4 h', alertSilencePath(alert, silenceFor), page)
    : [];
  return [
    ...linkTo('page_url', 'Open', typeof open === 'string' ? open : page.pageUrl),
    ...linkTo('runbook_url', 'What to do', typeof runbook === 'string' ? runbook : null),
    ...resume,
    ...silence,
  ];
}

/** What is about no alert leads to the page as a whole. */
export function linkToPage(pageUrl: string | null): readonly MessageLink[] {
  return linkTo('page_url', 'Open', pageUrl);
}

/** Where an alert of several is on the page; null when it has no place of its own. */
export function placeOf({ facts }: Alert): string | null {
  const open = facts.numbers['page_url'];
  return typeof open === 'string' && isLink(open) ? open : null;
}

function canBeSilenced({ kind, alert }: Transition): boolean {
  return !isDisarming(alert) && kind !== 'event' && kind !== 'resolved';
}

function preparedLink(name: MessageLink['name'], label: string, path: string, { publicUrl }: PageAddresses) {
  return linkTo(name, label, publicUrl === null ? null : `${publicUrl}${path}`);
}

/** Nothing when the address is not plainly http. */
function linkTo(name: MessageLink['name'], label: string, url: string | null): readonly MessageLink[] {
  return url !== null && isLink(url) ? [{ name, label, url }] : [];
}

function isLink(address: string): boolean {
  return address.length <= maxUrl && isPlainLink(address);
}

/** An http address without anything that a receiver would read as markup. */
export function isPlainLink(address: string): boolean {
  return /^https?:\/\/[^\s<>|"]+$/.test(address);
}

// Text in a receiver's markup, cut to a limit: a command is there as a whole, or not at all, because half of one might run.

const more = '…';
/** A command as our sentences write it, or one character. */
const pieces = /`[^`\n]*`|[\s\S]/gu;
const command = /`[^`\n]*`/;

/** Writes a command with its backticks, or one character, in the receiver's markup. */
type WritePiece = (piece: string) => string;

/** At most `max` UTF-16 units of markup. */
export function fittedText(text: string, max: number, write: WritePiece): string {
  const written = [...text.matchAll(pieces)].map(([piece]) => write(piece));
  const whole = written.join('');
  if (whole.length <= max) return whole;
  let out = '';
  for (const next of written) {
    if (out.length + next.length > max - more.length) break;
    out += next;
  }
  return out + more;
}

/**
 * Sentences in one text of at most `max` UTF-16 units. Where they do not all fit, those with a command stay whole, after
 * as much of the others as there is room for: half of "To undo this" helps no one.
 */
export function fittedSentences(
  sentences: readonly string[],
  { separator, max, write }: { readonly separator: string; readonly max: number; readonly write: WritePiece },
): string {
  const joined = sentences.join(separator);
  const whole = fittedText(joined, Number.POSITIVE_INFINITY, write);
  if (whole.length <= max) return whole;
  const commands = sentences.filter((sentence) => command.test(sentence));
  const kept = fittedText(commands.join(separator), Number.POSITIVE_INFINITY, write);
  const room = max - kept.length - separator.length;
  if (commands.length === 0 || room < more.length) return fittedText(joined, max, write);
  const others = sentences.filter((sentence) => !command.test(sentence)).join(separator);
  return [fittedText(others, room, write), kept].filter((text) => text !== '').join(separator);
}
