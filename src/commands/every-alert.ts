// Every alert that fits, however many there are: page by page of the running daemon, or of its store.
import type { Alert, Silence } from '../model/alert.ts';
import type { Incident } from '../model/incident.ts';
import { type AlertsAnswer, alertsAnswer, maxAlerts } from '../serve/alerts-answer.ts';
import { systemClock } from '../world.ts';
import { askFor, type DaemonAddress, NoDaemonError } from './daemon-client.ts';

type Query = Readonly<Record<string, string>>;

/** null: no daemon answers. */
export async function everyAlertOf(address: DaemonAddress, query: Query): Promise<AlertsAnswer | null> {
  const page = async (asked: Query) => (await askFor(address, 'alerts', asked)) as AlertsAnswer | null;
  const first = await page(pageOf(query, 1));
  return first && joined(first, async (number) => page(pageOf(query, number)));
}

interface Known {
  readonly alerts: Iterable<Alert>;
  readonly incidents: readonly Incident[];
  readonly silences: readonly Silence[];
}

/** As a store knew them last. */
export async function everyKnownAlert(known: Known, query: Query): Promise<AlertsAnswer> {
  const all = {
    alerts: [...known.alerts],
    incidents: known.incidents,
    silences: known.silences,
    now: systemClock().now(),
  };
  const page = (number: number) => {
    const answer = alertsAnswer(all, new URLSearchParams(pageOf(query, number)));
    if (answer.status === 400) throw new Error(answer.body.message);
    return answer.body;
  };
  return joined(page(1), async (number) => page(number));
}

function pageOf(query: Query, number: number): Query {
  return { ...query, limit: `${maxAlerts}`, page: `${number}` };
}

async function joined(
  first: AlertsAnswer,
  page: (number: number) => Promise<AlertsAnswer | null>,
): Promise<AlertsAnswer> {
  const alerts = [...first.alerts];
  for (let number = 2; (number - 1) * maxAlerts < first.total; number += 1) {
    const next = await page(number);
    if (!next) throw new NoDaemonError('The daemon ended before it had answered.');
    alerts.push(...next.alerts);
  }
  return { ...first, total: alerts.length, alerts };
}
