// `warmwarden status`: the fleet in the terminal, worst first; of the running daemon, or as its store knew it last.
import { styleText } from 'node:util';
import { Command } from 'commander';
import { commandName } from '../command-name.ts';
import { defaultPolicy } from '../model/policy.ts';
import { fleetOf } from '../reload/duties.ts';
import type { AlertsAnswer } from '../serve/alerts-answer.ts';
import { type FleetAnswer, fleetAnswer } from '../serve/routes.ts';
import { explainVerdict } from '../wording/explain.ts';
import { createLog, systemClock } from '../world.ts';
import { askFor, type DaemonAddress, NoDaemonError } from './daemon-client.ts';
import { everyAlertOf, everyKnownAlert } from './every-alert.ts';
import { exitFailed } from './exit-codes.ts';
import { ledgerBeside } from './ledger-beside.ts';
import { printJson } from './options.ts';
import { addressOf, type DaemonOptions, withDaemonOptions } from './send-command.ts';
import { type Screen, statusText } from './status/table.ts';
import { screenColumns, screenRows, showsColours } from './terminal.ts';

/** How often `--watch` looks. */
const lookEveryMs = 2_000;
/** Lines of a terminal that the prompt needs. */
const spareRows = 1;
const clearScreen = '\x1b[H\x1b[J';

/** With `guarded` false nothing polls the mailboxes: no daemon runs. */
type StatusAnswer = FleetAnswer & { readonly guarded: boolean };

interface StatusOptions extends DaemonOptions {
  readonly watch?: boolean;
  readonly all?: boolean;
}

export function statusCommand(): Command {
  return withDaemonOptions(new Command('status'))
    .description('show the fleet, the worst first: what is wrong, what was done, how old the data is')
    .option('--watch', 'refresh every 2 seconds')
    .option('--all', 'show every mailbox, also those that do not fit the screen')
    .action(status);
}

async function status(options: StatusOptions): Promise<void> {
  const address = addressOf(options);
  const clock = systemClock();
  do {
    const screen = screenFor(options);
    const answer = await wholeFleet(address, Boolean(options.json) || screen.rows === null);
    if (!answer.guarded) process.exitCode = exitFailed;
    if (options.watch && process.stdout.isTTY) process.stdout.write(clearScreen);
    if (options.json) printJson('status', answer);
    else process.stdout.write(statusText(answer, screen));
    if (options.watch) await clock.sleep(lookEveryMs);
  } while (options.watch);
}

function screenFor({ all, watch }: StatusOptions): Screen {
  const colour = showsColours();
  const rows = screenRows();
  return {
    columns: screenColumns(),
    rows: rows !== null && (watch || !all) ? rows - spareRows : null,
    style: (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text),
  };
}

/** The running daemon's answer, or what the store knows while nothing is guarded. */
async function wholeFleet(address: DaemonAddress, all: boolean): Promise<StatusAnswer> {
  const page = (number: number) => askFor(address, 'fleet', { page: `${number}` }) as Promise<FleetAnswer | null>;
  const first = await page(1);
  if (!first) return { ...(await fromStore(address, all)), guarded: false };
  if (!all) return { ...first, guarded: true };
  const alerts = await everyAlertOf(address, firing);
  return { ...(await joined(first, page)), alerts: alerts ? brief(alerts) : first.alerts, guarded: true };
}

const firing = { status: 'firing' };

/** As the fleet's answer has them. */
function brief({ alerts }: AlertsAnswer): FleetAnswer['alerts'] {
  return alerts.map(({ rule, severity, since, title }) => ({ rule, severity, since, title }));
}

type NextPage = (number: number) => FleetAnswer | null | Promise<FleetAnswer | null>;

/** All pages as one. */
async function joined(first: FleetAnswer, page: NextPage): Promise<FleetAnswer> {
  const mailboxes = [...first.mailboxes];
  for (let number = 2; number <= first.pages; number += 1) {
    const next = await page(number);
    if (!next) throw new NoDaemonError('The daemon ended before it had answered.');
    mailboxes.push(...next.mailboxes);
  }
  return { ...first, mailboxes };
}

/** What the store knows while nobody guards. Rejects when there is no store either. */
async function fromStore(address: DaemonAddress, all: boolean): Promise<FleetAnswer> {
  const ledger = ledgerBeside(address);
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
    const nearLimitPpmOf = () => defaultPolicy.nearLimitPpm;
    const parts = { fleet, world, ready, nearLimitPpmOf, explain: explainVerdict };
    const page = (number: number) => fleetAnswer(parts, { text: '', state: null, page: number });
    return {
      ...(all ? await joined(page(1), page) : page(1)),
      ...(all && { alerts: brief(await everyKnownAlert(picture, firing)) }),
      tone: 'unknown',
      headline: 'No daemon runs on this store: NOTHING IS GUARDED. This is what was known last.',
      advice: `Start it: ${commandName} run --config FILE`,
    };
  } finally {
    await ledger.close();
  }
}
