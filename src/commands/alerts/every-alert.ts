// Every alert that fits, however many there are: page by page of the running daemon, or of its store.
import type { Alert, Silence } from '../../model/alert.ts';
import type { Incident } from '../../model/incident.ts';
import { type AlertsAnswer, alertsAnswer, maxAlerts } from '../../serve/json/alerts-answer.ts';
import { systemClock } from '../../world.ts';
import { askFor, type DaemonAddress } from '../sources/daemon-client.ts';
import { NoDaemonError } from '../sources/sign-of-life.ts';

type Query = Readonly<Record<string, string>>;

/** null: no daemon answers. */
export async function everyAlertOf(address: DaemonAddress, query: Query): Promise<AlertsAnswer | null> {
  const page = async (asked: Query) => (await askFor(address, 'alerts', asked)) as AlertsAnswer | null;
  const first = await page(pageOf(query, null));
  return first && joined(first, async (cursor) => page(pageOf(query, cursor)));
}

interface Known {
  readonly alerts: Iterable<Alert>;
  readonly incidents: readonly Incident[];
  readonly silences: readonly Silence[];
}

/** As a store knew them last. `zone`: of the times, an IANA name. */
export async function everyKnownAlert(known: Known, zone: string, query: Query): Promise<AlertsAnswer> {
  const all = {
    alerts: [...known.alerts],
    incidents: known.incidents,
    silences: known.silences,
    now: systemClock().now(),
    zone,
  };
  const page = async (cursor: string | null) => {
    const answer = await alertsAnswer(all, new URLSearchParams(pageOf(query, cursor)));
    if (answer.status === 400) throw new Error(answer.body.message);
    return answer.body;
  };
  return joined(await page(null), page);
}

function pageOf(query: Query, cursor: string | null): Query {
  return { ...query, limit: `${maxAlerts}`, ...(cursor !== null && { cursor }) };
}

async function joined(
  first: AlertsAnswer,
  page: (cursor: string) => Promise<AlertsAnswer | null>,
): Promise<AlertsAnswer> {
  const alerts = [...first.alerts];
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const next = await page(cursor);
    if (!next) throw new NoDaemonError('The daemon ended before it had answered.');
    alerts.push(...next.alerts);
    cursor = next.next_cursor;
  }
  return { ...first, total: alerts.length, alerts, next_cursor: null };
}
