// A message as plain text, in the order in which people read it: the headline, what it is about, the list, the links. Each
// channel writes it in its own form and within its own limits. Pure.
import type { GroupMessage } from '../alerts/grouping.ts';
import type { Alert, Severity, Transition } from '../core/alert.ts';
import type { MessageIncident } from '../core/incident.ts';
import { mailboxPath } from '../core/page-links.ts';
import type { EpochMs } from '../core/time.ts';
import { momentText, numberText, spanText, visibleText } from '../core/wording/phrases.ts';
import type { Notice } from './channel.ts';
import { linksOf, linkToPage, type MessageLink, type PageAddresses, placeOf } from './links.ts';
import { briefLead, countsText, messageTitle } from './message-title.ts';

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

// Text in a receiver's markup, cut to a limit: a command is there as a whole, or not at all, because half of one might run.

const more = '…';
/** A command as our sentences write it, or one character. */
const pieces = /`[^`\n]*`|[\s\S]/gu;
const command = /`[^`\n]*`/;

/** Writes a command with its backticks, or one character, in the receiver's markup. */
type Write = (piece: string) => string;

/** At most `max` UTF-16 units of markup. */
export function fittedText(text: string, max: number, write: Write): string {
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
  { separator, max, write }: { readonly separator: string; readonly max: number; readonly write: Write },
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
