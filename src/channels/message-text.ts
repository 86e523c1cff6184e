// A message as plain text. Each channel writes it in its own form and within its own limits. Pure.
import { type GroupMessage, groupName } from '../alerts/grouping.ts';
import { isPause, mayAcknowledge } from '../alerts/routing.ts';
import { isDisarming } from '../alerts/rules/protection-rule.ts';
import type { Alert, Transition } from '../core/alert.ts';
import type { Severity } from '../core/alert-rules.ts';
import type { MessageIncident } from '../core/incident.ts';
import {
  acknowledgePath,
  alertSilencePath,
  alertsPath,
  groupSilencePath,
  mailboxCommandPath,
  mailboxPath,
} from '../core/page-links.ts';
import type { EpochMs } from '../core/time.ts';
import { campaignsUntouched } from '../core/wording/explain.ts';
import { capital, momentText, numberText, spanText, visibleText } from '../core/wording/phrases.ts';
import type { Notice } from './channel.ts';

export interface ForPeople extends PageAddresses {
  /** IANA name, read each time, because a reload may change it. */
  readonly timeZone: () => string;
}

export interface MessageItem {
  readonly head: string;
  readonly sentences: readonly string[];
  readonly foot: string;
  /** Address of its place on the page, or null if it has none. */
  readonly url: string | null;
}

/** Message without control and direction characters, not escaped. Commands are between backticks. */
export interface MessageText {
  readonly headline: string;
  readonly tone: Severity | 'resolved';
  /** Text before the list: one string for each paragraph. */
  readonly lead: readonly string[];
  readonly items: readonly MessageItem[];
  readonly more: number;
  readonly links: readonly MessageLink[];
  readonly foot: string;
}

/** Maximum number of alerts, or sections of a notice, that one message shows; the others are counted. */
const maxItems = 20;
const maxNoticeLines = 15;
/** Longest sentence that may stand above a list: it takes room from the list. */
const maxShared = 300;

export function messageText(message: GroupMessage, people: ForPeople): MessageText {
  const { transitions, account, rule, severity, kind, at, waitedSince } = message;
  const zone = people.timeZone();
  const links = linksOf(message, people);
  const parts = message.incident ? [message.incident.id] : [account, rule];
  const foot = [...parts, momentText(at, zone)].filter(Boolean).join(' · ');
  const about = { headline: messageTitle(message), tone: kind === 'resolved' ? kind : severity, links, foot };
  const waited = waitedSince === undefined ? [] : [waitedText(waitedSince, at, zone)];
  const [only, ...others] = transitions;
  if (message.incident === null && only && others.length === 0) {
    const sentences = [...only.alert.facts.sentences, ...tagsText(only.alert)];
    const times = timesText(only, zone);
    const isRepeated =
      only.kind !== 'resolved' && [...sentences, foot].some((text) => text.includes(momentOf(only, zone)));
    const lead = isRepeated ? sentences : [...sentences, times];
    return visible({ ...about, lead: [...waited, ...lead], items: [], more: 0 });
  }
  const { incident } = message;
  const { lead, items, count } = incident ? incidentList(incident, message, people) : alertList(message, zone);
  return visible({ ...about, lead: [...waited, ...lead], items, more: count - items.length });
}

function waitedText(since: EpochMs, until: EpochMs, zone: string): string {
  return `Kept back by a mute time from ${momentText(since, zone)} to ${momentText(until, zone)}.`;
}

function alertList(message: GroupMessage, zone: string) {
  const { transitions, rule } = message;
  const calm = rule === 'guard_acted' ? ['This can wait until the morning.'] : [];
  const campaigns = transitions.some(isPause) ? [campaignsUntouched] : calm;
  const shared = sharedSentences(transitions);
  const lead = [...(rule === null ? [countsText(message)] : []), ...campaigns, ...shared];
  const items = transitions.slice(0, maxItems).map((transition) => itemOf(transition, zone, shared));
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

/** Sentences of every alert, such as an advice: they stand once, above the list. */
function sharedSentences(transitions: readonly Transition[]): readonly string[] {
  const [first, ...others] = transitions.map(({ alert }) =>
    alert.rule === 'guard_acted' ? tagsText(alert) : [...alert.facts.sentences, ...tagsText(alert)],
  );
  const isShared = (text: string) => text.length <= maxShared && others.every((sentences) => sentences.includes(text));
  return others.length === 0 ? [] : (first ?? []).filter(isShared);
}

/** `Tags: client=north, vip`. */
function tagsText({ facts: { tags = [] } }: Alert): readonly string[] {
  return tags.length === 0 ? [] : [`Tags: ${tags.join(', ')}`];
}

function itemOf(transition: Transition, zone: string, shared: readonly string[]): MessageItem {
  const { alert } = transition;
  const { title } = alert.facts;
  // An action among others has only its counts and the way back.
  const isShort = alert.rule === 'guard_acted';
  const told = isShort ? [...shared, campaignsUntouched] : shared;
  const own = alert.facts.sentences.filter((text) => !told.includes(text));
  const sentences = [
    ...own.filter((text, index) => !isShort || index === 0 || command.test(text)),
    ...tagsText(alert).filter((text) => !shared.includes(text)),
  ];
  return {
    head: `${transition.brief ? `${briefLead}: ` : leads[transition.kind]}${title}`,
    sentences,
    foot: `${alert.rule} · ${timesText(transition, zone)}`,
    url: placeOf(alert),
  };
}

export function noticeText({ title, at, sections }: Notice, { pageUrl, timeZone }: ForPeople): MessageText {
  const items = sections.slice(0, maxItems).map(({ heading, lines }) => {
    const said = lines.filter((line) => line !== '');
    const more = moreText(said.length - maxNoticeLines);
    const sentences = [...said.slice(0, maxNoticeLines), ...(more === null ? [] : [more])];
    return { head: heading, sentences, foot: '', url: null };
  });
  const foot = momentText(at, timeZone());
  const more = sections.length - items.length;
  return visible({
    headline: title,
    tone: 'info',
    lead: [],
    items,
    more,
    links: linkTo('page_url', 'Open', pageUrl),
    foot,
  });
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

const leads: Readonly<Record<Transition['kind'], string>> = {
  firing: '',
  event: '',
  worsened: 'Worse: ',
  reminder: 'Still: ',
  resolved: 'Resolved: ',
};

function timesText(transition: Transition, zone: string): string {
  const { kind, alert } = transition;
  if (kind === 'resolved') return endedText(alert, zone);
  return kind === 'event' ? momentOf(transition, zone) : `Since ${momentOf(transition, zone)}`;
}

function momentOf({ alert }: Transition, zone: string): string {
  return momentText(alert.since, zone);
}

function endedText({ since, resolvedAt }: Alert, zone: string): string {
  const until: EpochMs = resolvedAt ?? since;
  const [from, to] = [momentText(since, zone), momentText(until, zone)];
  return from === to
    ? `On ${from}, for ${spanText(until - since)}`
    : `From ${from} to ${to}, ${spanText(until - since)}`;
}

export function moreText(left: number): string | null {
  return left > 0 ? `and ${numberText(left)} more: see the page.` : null;
}

/** First items that fit, and the number of those left out. `sizeOf`: the share of `room` that an item uses. */
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

/** Cuts to at most `max` UTF-16 units, and never a character in half. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, Math.max(0, max - 1));
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}

// The title of a message in one line. Plain text, not escaped.

const briefLead = 'Began and resolved';

const rulesNamed = 4;

/** Returns a title such as `Critical: acme: DNS failing (12, 3 of them resolved)`. */
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
    const counts = [...Map.groupBy(transitions, ({ alert }) => alert.rule)];
    const named = counts.slice(0, rulesNamed).map(([of, ofRule]) => `${groupName(of, transitions)} (${ofRule.length})`);
    const more = counts.length > named.length ? ` and ${counts.length - named.length} more` : '';
    return `${lead}: ${whose}${named.join(', ')}${more}${unstable}`;
  }
  const ended = transitions.filter((transition) => transition.kind === 'resolved').length;
  const note = ended > 0 && kind !== 'resolved' ? `, ${ended} of them resolved` : '';
  // The name of actions has their number.
  const count = rule === 'guard_acted' ? note : ` (${transitions.length}${note})`;
  return `${lead}: ${whose}${groupName(rule, transitions)}${count}${unstable}`;
}

/** Returns a text such as `DNS failing (2) · stale statistics (30, 4 resolved)`. */
function countsText({ transitions }: GroupMessage): string {
  const parts = [...Map.groupBy(transitions, ({ alert }) => alert.rule)].map(([rule, ofRule]) => {
    const resolved = ofRule.filter(({ kind }) => kind === 'resolved').length;
    return `${groupName(rule, transitions)} (${ofRule.length}${resolved > 0 ? `, ${resolved} resolved` : ''})`;
  });
  return parts.join(' · ');
}

function titleLead({ kind, severity, transitions, incident }: GroupMessage): string {
  if (kind === 'resolved') return !incident && transitions.every(({ brief }) => brief) ? briefLead : 'Resolved';
  if (kind === 'reminder') return `Still ${severity}`;
  return kind === 'worsened' ? `Worse, ${severity}` : capital(severity);
}

export interface PageAddresses {
  readonly pageUrl: string | null;
  /** Address that the configuration gives; null if the page may open on one machine only. */
  readonly publicUrl: string | null;
}

/** `name` distinguishes the links of one message. */
export interface MessageLink {
  readonly name: 'page_url' | 'runbook_url' | 'resume_url' | 'ack_url' | 'silence_url';
  readonly label: string;
  readonly url: string;
}

const maxUrl = 600;
const silenceFor = '4h';

/** Links to the incident, to the only alert, or to the rule and account that the alerts share. */
export function linksOf(message: GroupMessage, page: PageAddresses): readonly MessageLink[] {
  const { incident, transitions, rule, account } = message;
  if (incident) return linkTo('page_url', 'Open', incident.pageUrl ?? page.pageUrl);
  const silence = (path: string) => preparedLink('silence_url', 'Silence 4 h', path, page);
  const acknowledge = (path: string) => preparedLink('ack_url', 'Acknowledge', path, page);
  const isOpen = ({ kind, alert }: Transition) => kind !== 'resolved' && mayAcknowledge(alert) && !alert.facts.withheld;
  const [only, ...others] = transitions;
  if (!only || others.length > 0) {
    const [first, ...more] = transitions.filter(canBeSilenced).map(({ alert }) => alert);
    const isShared = rule !== null && account !== null && first !== undefined;
    return [
      ...linkTo('page_url', 'Open', page.pageUrl),
      ...(transitions.some(isOpen) ? acknowledge(alertsPath(rule ?? '', account ?? '')) : []),
      ...(isShared ? silence(groupSilencePath([first, ...more], silenceFor)) : []),
    ];
  }
  const { account: of, mailboxId: id, facts } = only.alert;
  const { page_url: open, runbook_url: runbook } = facts.numbers;
  return [
    ...linkTo('page_url', 'Open', typeof open === 'string' ? open : page.pageUrl),
    ...linkTo('runbook_url', 'What to do', typeof runbook === 'string' ? runbook : null),
    ...(isPause(only) && id !== null && !facts.withheld
      ? preparedLink('resume_url', 'Resume', mailboxCommandPath({ account: of, id }, 'resume'), page)
      : []),
    ...(isOpen(only) ? acknowledge(acknowledgePath(only.alert)) : []),
    ...(canBeSilenced(only) ? silence(alertSilencePath(only.alert, silenceFor)) : []),
  ];
}

function placeOf({ facts }: Alert): string | null {
  const open = facts.numbers['page_url'];
  return typeof open === 'string' && isLink(open) ? open : null;
}

function canBeSilenced({ kind, alert }: Transition): boolean {
  return !isDisarming(alert) && !alert.facts.withheld && kind !== 'event' && kind !== 'resolved';
}

function preparedLink(name: MessageLink['name'], label: string, path: string, { publicUrl }: PageAddresses) {
  return linkTo(name, label, publicUrl === null ? null : `${publicUrl}${path}`);
}

/** Returns nothing if the address is not plain http or https. */
function linkTo(name: MessageLink['name'], label: string, url: string | null): readonly MessageLink[] {
  return url !== null && isLink(url) ? [{ name, label, url }] : [];
}

/** True for a short http or https address without characters that a receiver would read as markup. */
function isLink(address: string): boolean {
  return address.length <= maxUrl && /^https?:\/\/[^\s<>|"]+$/.test(address);
}

// Text in a receiver's markup, cut to a limit. A command is kept whole or left out, because half of one might run.

const ellipsis = '…';
const pieces = /`[^`\n]*`|[\s\S]/gu;
const command = /`[^`\n]*`/;

type WritePiece = (piece: string) => string;

/** True for a piece of text that is a command between backticks. */
export function isCommand(piece: string): boolean {
  return piece.length > 2 && piece.startsWith('`');
}

/** Writes text for a receiver: `write` escapes a piece, and `harmless` takes mentions and links out of words. */
export function textWriter(write: WritePiece, harmless: WritePiece = (text) => text) {
  return {
    text: (text: string, max: number) => fittedText(harmless(text), max, write),
    /** Writes one sentence a line. */
    lines: (sentences: readonly string[], max: number) => fittedLines(sentences.map(harmless), max, write),
  };
}

export const plainWriter = textWriter((piece) => piece);

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapedHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Cuts to at most `max` UTF-16 units of markup. */
function fittedText(text: string, max: number, write: WritePiece): string {
  const written = [...text.matchAll(pieces)].map(([piece]) => write(piece));
  const whole = written.join('');
  if (whole.length <= max) return whole;
  let out = '';
  for (const next of written) {
    if (out.length + next.length > max - ellipsis.length) break;
    out += next;
  }
  return out + ellipsis;
}

/** If not all sentences fit, those with a command stay whole: half of "To undo this" is of no use. */
function fittedLines(sentences: readonly string[], max: number, write: WritePiece): string {
  const written = (some: readonly string[]) => fittedText(some.join('\n'), Number.POSITIVE_INFINITY, write);
  const whole = written(sentences);
  if (whole.length <= max) return whole;
  const kept = written(sentences.filter((sentence) => command.test(sentence)));
  const room = max - kept.length - 1;
  if (kept === '' || room < ellipsis.length) return fittedText(sentences.join('\n'), max, write);
  const others = sentences.filter((sentence) => !command.test(sentence)).join('\n');
  return [fittedText(others, room, write), kept].filter((text) => text !== '').join('\n');
}

// A whole message as lines, for receivers with one text.

/** Markup of a receiver. `write` escapes a text, and cuts it to a number of characters. */
export interface MessageMarkup {
  readonly write: (text: string, max: number) => string;
  readonly bold: (written: string) => string;
  readonly link: (link: Pick<MessageLink, 'label' | 'url'>) => string;
}

export const plainMarkup: MessageMarkup = {
  write: plainWriter.text,
  bold: (written) => written,
  link: ({ label, url }) => `${label}: ${url}`,
};

/** `harmless` takes mentions and links out of words. */
export function htmlMarkup(harmless?: WritePiece): MessageMarkup {
  const write = (piece: string) =>
    isCommand(piece) ? `<code>${escapedHtml(piece.slice(1, -1))}</code>` : escapedHtml(piece);
  return {
    write: textWriter(write, harmless).text,
    bold: (written) => `<strong>${written}</strong>`,
    link: ({ label, url }) => `<a href="${escapedHtml(url)}">${escapedHtml(label)}</a>`,
  };
}

/**
 * Text below the title, of at most `max` bytes of UTF-8, which are never fewer than characters. It is cut after a
 * paragraph or an item. The links and the foot stay; `hasLinks` is false if the receiver has a place of its own for them.
 */
export function bodyText(text: MessageText, max: number, { write, bold, link } = plainMarkup, hasLinks = true): string {
  const whole = (line: string) => write(line, Number.POSITIVE_INFINITY);
  const blocks = text.items.map(({ head, sentences, foot, url }) => {
    const open = url === null || !hasLinks ? '' : link({ label: 'Open', url });
    const bottom = [whole(foot), open].filter((part) => part !== '').join(' · ');
    return ['', head && bold(whole(head)), ...sentences.map(whole), bottom].join('\n');
  });
  const all = blocks.length + text.more;
  const tail = [whole(text.foot), ...(hasLinks ? text.links.map(link) : [])].filter((line) => line !== '');
  const room = max - 1 - [moreText(all) ?? '', ...tail].reduce((sum, line) => sum + bytesOfLine(line), 0);
  const fit = fitting({ items: text.lead.map(whole), more: 0 }, room - bytesOfLine(ellipsis), bytesOfLine);
  const begun = () => write(text.lead[0] ?? '', Math.floor(room / mostBytesOfUnit) - 1);
  const lead = fit.left === 0 ? fit.items : fit.items.length === 0 ? [begun()] : [...fit.items, ellipsis];
  const left = room - lead.reduce((sum, line) => sum + bytesOfLine(line), 0);
  const list =
    fit.left === 0 ? fitting({ items: blocks, more: text.more }, left, bytesOfLine) : { items: [], left: all };
  return [...lead, ...list.items, '', moreText(list.left) ?? '', ...tail]
    .join('\n')
    .replace(/\n{2,}/g, '\n\n')
    .trim();
}

/** Bytes of UTF-8 of a UTF-16 unit, at most. */
const mostBytesOfUnit = 3;

function bytesOfLine(line: string): number {
  return Buffer.byteLength(line) + 1;
}
