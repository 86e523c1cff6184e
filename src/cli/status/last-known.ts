// What the store knows of the fleet while nobody guards.

import { defaultPolicy } from '../../core/policy.ts';
import { explainVerdict } from '../../core/wording/explain.ts';
import { fleetOf } from '../../daemon/reload/shown.ts';
import { type FleetAnswer, fleetAnswer } from '../../web/json/fleet-answer.ts';
import { Ranking } from '../../web/ranking.ts';
import { commandName } from '../../world/command-name.ts';
import { createLog, systemClock } from '../../world/world.ts';
import { addressOf, type DaemonOptions, zoneOf } from '../sources/daemon-client.ts';
import { ledgerBeside, unanswered } from '../sources/ledger-beside.ts';
import { joined } from './pages.ts';

/** Rejects when there is no store either. */
export async function lastKnown(options: DaemonOptions, all: boolean): Promise<FleetAnswer> {
  const ledger = await ledgerBeside(addressOf(options));
  try {
    const picture = await ledger.picture();
    const accounts = new Set(picture.mailboxes.map(({ account }) => account));
    const fleet = fleetOf(
      picture,
      [...accounts].map((name) => ({ name, baseUrl: name })),
    );
    const clock = systemClock();
    const world = {
      clock,
      random: () => 0,
      log: createLog({ level: 'silent', format: 'json' }, clock),
      command: commandName,
    };
    const ready = () => ({ ready: false, reasons: [] });
    const ranking = new Ranking(
      { fleet, clock },
      () => defaultPolicy,
      () => defaultPolicy,
    );
    const parts = { fleet, world, ready, ranking, explain: explainVerdict, timeZone: () => zoneOf(options) };
    const page = async (asked: Readonly<Record<string, string>>) => {
      const answer = await fleetAnswer(parts, new URLSearchParams(asked));
      if (answer.status === 400) throw new Error(answer.body.message);
      return answer.body;
    };
    const first = await page({});
    return {
      ...(all ? await joined(first, (cursor) => page({ cursor })) : first),
      tone: 'unknown',
      ...unanswered(await ledger.guardian(), 'This is what was known last.'),
    };
  } finally {
    await ledger.close();
  }
}
