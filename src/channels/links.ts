// The links of a message: to what it is about, to its runbook, and to the page with a command prepared. Pure.
import type { GroupMessage } from '../alerts/grouping.ts';
import { isPause } from '../alerts/routing.ts';
import { isDisarming } from '../alerts/rules/disarmed-rule.ts';
import type { Alert, Transition } from '../core/alert.ts';
import { alertSilencePath, groupSilencePath, resumePath } from '../core/page-links.ts';

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
