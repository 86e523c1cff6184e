// Possible causes of a bounce rate, in sentences. No decision depends on them.
import { type DnsRecordName, dnsRecords } from '../answers.ts';
import type { Change, MailboxState } from '../mailbox.ts';
import { dayMs } from '../time.ts';
import type { Verdict } from '../verdict.ts';
import { betweenText, listText } from './phrases.ts';

/** Time before the window within which a change may still explain its bounces. */
const leadMs = 2 * dayMs;
const kindsNamed = 3;

/** Facts near a verdict's counts, or a sentence that there are none. */
export function causeSentences(mailbox: MailboxState, verdict: Verdict, zone: string): readonly string[] {
  const from = Date.parse(verdict.windowFrom ?? '') - leadMs;
  const near = mailbox.changes.filter(({ at }) => Number.isNaN(from) || at >= from);
  const found = [
    ...dnsSentences(near, zone),
    ...near.filter((change) => dnsNameOf(change) === undefined).map((change) => changeSentence(change, zone)),
    ...standing(mailbox, near),
    ...bounceKinds(mailbox),
  ];
  if (found.length > 0) return found;
  const watched = [mailbox.dns && 'DNS', mailbox.blacklist && 'listings', mailbox.detail && 'connection'];
  const names = watched.filter((name) => name !== null && name !== undefined);
  if (names.length === 0) return [];
  return [
    `Nothing that Warmwarden watches (${listText(names)}) changed around that time: check the recipient list of the mailbox.`,
  ];
}

function dnsNameOf({ what }: Change): DnsRecordName | undefined {
  return dnsRecords.find((name) => what === name || what === `${name}_record`);
}

/** Sentences about what one look at the DNS found, such as `SPF and DKIM changed from pass to fail between ...`. */
function dnsSentences(changes: readonly Change[], zone: string): readonly string[] {
  const looks = Map.groupBy(changes.filter(dnsNameOf), ({ since, at }) => `${since} ${at}`);
  return [...looks.values()].flatMap((ofLook) => {
    const [first] = ofLook;
    const records = ofLook.filter(({ what }) => what.endsWith('_record')).map(dnsNameOf);
    const results = ofLook.filter(({ what }) => !what.endsWith('_record'));
    const moves = [...Map.groupBy(results, ({ from, to }) => `from ${from} to ${to}`)];
    const when = first ? betweenText(first.since, first.at, zone) : '';
    const sentences = moves.map(([move, moved]) => `${dnsNames(moved.map(dnsNameOf))} changed ${move} ${when}.`);
    if (records.length === 0) return sentences;
    const recordsWhen = moves.length > 0 ? 'at the same time' : when;
    return [
      ...sentences,
      `The ${dnsNames(records)} ${records.length === 1 ? 'record' : 'records'} changed ${recordsWhen}.`,
    ];
  });
}

function dnsNames(names: readonly (DnsRecordName | undefined)[]): string {
  return listText(names.map((name) => name?.toUpperCase() ?? ''));
}

export function changeSentence({ what, from, to, since, at }: Change, zone: string): string {
  const when = betweenText(since, at, zone);
  switch (what) {
    case 'mode':
    case 'warm-up':
    case 'target_daily_limit':
      return `Others changed its ${what.replaceAll('_', ' ')} from ${from} to ${to} ${when}.`;
    case 'connection':
      return to === 'connected' ? `Its connection was restored ${when}.` : `Its connection failed ${when}: ${to}.`;
    case 'listing':
      return listingSentence(from, to, when);
    case 'spf':
    case 'dkim':
    case 'dmarc':
      return `${what.toUpperCase()} changed from ${from} to ${to} ${when}.`;
    default:
      return `Its ${what.slice(0, -'_record'.length).toUpperCase()} record changed ${when}.`;
  }
}

/** `from` and `to`: names of blacklists with commas between them, "none", or a number of lists. */
function listingSentence(from: string | null, to: string | null, when: string): string {
  const namesIn = (lists: string | null) => (lists === null || lists === 'none' ? [] : lists.split(', '));
  const added = namesIn(to).filter((list) => !namesIn(from).includes(list));
  const left = namesIn(from).filter((list) => !namesIn(to).includes(list));
  if (to === 'none') return `Its sending address left the blacklists ${when}.`;
  if (left.length === 0 || from === 'none')
    return `Its sending address was added to a blacklist ${when}: ${listText(added)}.`;
  if (added.length === 0) return `Its sending address left a blacklist ${when}: ${listText(left)}.`;
  return `The blacklists of its sending address changed from ${from} to ${to} ${when}.`;
}

/** Troubles that every look showed, which no change reports. */
function standing({ dns, blacklist, detail }: MailboxState, near: readonly Change[]): readonly string[] {
  const mentioned = new Set(near.map(({ what }) => what));
  const failing = dnsRecords.filter((name) => dns?.answer.records[name].pass === false && !mentioned.has(name));
  const lists = blacklist?.answer.listed === true && !mentioned.has('listing') ? blacklist.answer.lists : null;
  const broken = detail?.answer.connection === 'error' && !mentioned.has('connection');
  return [
    failing.length > 0
      ? `${listText(failing.map((name) => name.toUpperCase()))} ${failing.length === 1 ? 'was' : 'were'} already failing before that time.`
      : '',
    lists
      ? `Its sending address was already on ${lists.length > 0 ? listText(lists) : 'a blacklist'} before that time.`
      : '',
    broken ? 'Its connection has been failing since before that time.' : '',
  ].filter((sentence) => sentence !== '');
}

/** For example `Of the last 5 bounces 4 were hard (invalid_recipient), 1 soft.` */
export function bounceKinds({ warmup }: Pick<MailboxState, 'warmup'>): readonly string[] {
  const bounces = warmup?.answer.recentBounces ?? [];
  const counts = new Map<string, number>();
  for (const { type, category } of bounces) {
    const kind = `${type ?? 'of an unknown type'}${category ? ` (${category})` : ''}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const [most, ...others] = [...counts].sort((a, b) => b[1] - a[1]).slice(0, kindsNamed);
  if (!most) return [];
  const [kind, count] = most;
  if (bounces.length === 1) return [`The last bounce was ${kind}.`];
  if (others.length === 0) return [`The last ${bounces.length} bounces were ${kind}.`];
  const rest = others.map(([other, times]) => `, ${times} ${other}`).join('');
  return [`Of the last ${bounces.length} bounces, ${count} ${count === 1 ? 'was' : 'were'} ${kind}${rest}.`];
}
