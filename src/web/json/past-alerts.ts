// Alerts that are over: what resolved and what happened, the newest first, each with the messages about it. GET /api/past-alerts,
// and what the page of alerts is read from.
import { type Alert, severities } from '../../core/alert.ts';
import type { ListedDelivery } from '../../core/delivery.ts';
import { messagesIn, spansOf } from '../messages-about.ts';
import { type AlertSelection, byAlert, type PastAlert } from '../page/alerts-page.ts';
import { cursorAfter, cursorOf, oneOf, readQuery, upTo, whole } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';
import { alertJson } from './alerts-answer.ts';
import { deliveryJson, iso } from './json-answers.ts';

const maxWordLength = 400;
/** What picks alerts, on the page and here. */
export const alertFilters = {
  severity: oneOf(...severities),
  rule: upTo(maxWordLength),
  account: upTo(maxWordLength),
  mailbox: upTo(maxWordLength),
};
export const pastAlertsParameters = { ...alertFilters, limit: whole(1, 1_000), cursor: cursorOf('whole') };

const usualLimit = 50;
/** One answer looks at so many steps of alerts, also when few of them match. */
const stepsScanned = 1_000;
const stepsARead = 200;

type PastParts = Pick<RouteParts, 'transitions' | 'deliveries'>;

export interface PastPage {
  readonly rows: readonly PastAlert[];
  /** Where to go on; null: there are no older ones. */
  readonly next: number | null;
}

/** Whether an alert is among those that are asked for. `mailbox`: ACCOUNT/ID, an id or an address. */
export function isChosen(alert: Alert, { severity, rule, account, mailbox }: AlertSelection): boolean {
  return (
    (severity === null || alert.severity === severity) &&
    (rule === null || alert.rule === rule) &&
    (account === null || alert.account === account) &&
    (mailbox === null || isAbout(alert, mailbox))
  );
}

function isAbout({ account, mailboxId, email }: Alert, name: string): boolean {
  return mailboxId !== null && [mailboxId, email, `${account}/${mailboxId}`, `${account}/${email}`].includes(name);
}

/** Up to `limit` of those that match, from behind the step `before` on. There may be fewer, and yet older ones behind `next`. */
export async function readPast(parts: PastParts, selection: AlertSelection, from: From): Promise<PastPage> {
  const { found, next } = await scan(parts, selection, from);
  const spans = found.flatMap(({ alert, at }) => spansOf(alert, at));
  const about = byAlert((await messagesIn(parts.deliveries, spans)).deliveries);
  const messagesOf = (one: Ended) => about(one.alert).filter((delivery) => isWithin(delivery, one));
  return { rows: found.map((one) => ({ ...one, messages: messagesOf(one) })), next };
}

interface From {
  readonly before: number | null;
  readonly limit: number;
}

type Ended = Omit<PastAlert, 'messages'>;

async function scan({ transitions }: PastParts, selection: AlertSelection, { before, limit }: From) {
  const found: Ended[] = [];
  let next = before;
  for (let scanned = 0; scanned < stepsScanned; scanned += stepsARead) {
    const steps = await transitions(stepsARead, next ?? undefined);
    for (const { id, transition } of steps) {
      if (found.length === limit) return { found, next };
      next = id;
      const { kind, at, alert } = transition;
      if ((kind === 'resolved' || kind === 'event') && isChosen(alert, selection)) found.push({ kind, at, alert });
    }
    if (steps.length < stepsARead) return { found, next: null };
  }
  return { found, next };
}

function isWithin({ createdAt }: ListedDelivery, { at, alert }: Ended): boolean {
  return spansOf(alert, at).some(({ from, until }) => createdAt >= from && createdAt <= until);
}

/** `asked`: `severity`, `rule`, `account`, `mailbox`, `limit` and `cursor`. */
export async function pastAlertsAnswer(parts: PastParts & Pick<RouteParts, 'world'>, asked: URLSearchParams) {
  const query = readQuery(pastAlertsParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { limit = usualLimit, cursor, ...filters } = query.read;
  const { rows, next } = await readPast(parts, selectionOf(filters), { before: cursor?.[0] ?? null, limit });
  const alerts = rows.map(({ kind, at, alert, messages }) => ({
    ...alertJson(alert),
    ended_at: iso(at),
    is_event: kind === 'event',
    messages: messages.map(deliveryJson),
  }));
  const body = { at: iso(parts.world.clock.now()), alerts, next_cursor: next === null ? null : cursorAfter([next]) };
  return { status: 200, body } as const;
}

/** An empty text restricts nothing, as a form sends it. */
export function selectionOf(asked: {
  readonly severity?: AlertSelection['severity'] | undefined;
  readonly rule?: string | undefined;
  readonly account?: string | undefined;
  readonly mailbox?: string | undefined;
}): AlertSelection {
  const { severity, rule, account, mailbox } = asked;
  return { severity: severity ?? null, rule: rule || null, account: account || null, mailbox: mailbox || null };
}
