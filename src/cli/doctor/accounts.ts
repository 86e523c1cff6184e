// The accounts, as `check --online` asks them: does the API answer, does the cadence fit the budget, do the clocks agree.
import type { Config } from '../../config/config.ts';
import { secondMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { mendText, sumText } from '../../core/wording/forecast.ts';
import { overlapText, spanText } from '../../core/wording/phrases.ts';
import { noneJudged } from '../../core/wording/states.ts';
import { systemClock, worldOn } from '../../world/world.ts';
import {
  askOnline,
  guardsNothing,
  headline,
  idleRoutes,
  isUnjudged,
  type OnlineAccount,
  selectMore,
} from '../check/online.ts';
import { momentIn } from '../terminal.ts';
import type { SeenDaemon } from './daemon.ts';
import { type Examined, reporter } from './examined.ts';

const api = reporter('api');
const budget = reporter('budget');
const clock = reporter('clock');
/** As the alert clock_off: more than an answer takes. */
const clocksDifferMs = 60 * secondMs;
const simulatedClock = clock(
  'skipped',
  'The daemon on this store runs on a simulated clock, as in the demo, and not on the clock of this machine.',
);

/** Each kind of GET once; beside a daemon, which tells what it is answered, two an account. `seen`: the daemon on the same store, which uses the keys, too. */
export async function examineAccounts(config: Config, seen: SeenDaemon | null): Promise<readonly Examined[]> {
  const accounts = await askOnline(
    config,
    worldOn(systemClock(), { level: 'silent', format: 'json' }),
    seen?.fleet ?? null,
  );
  const idle = guardsNothing(accounts) ? 'problem' : 'warning';
  return [
    ...accounts.flatMap((account) => apiOf(account, idle)),
    ...judgingOf(seen),
    ...idleRoutes(config, accounts).map((rule) => api('warning', `Routes: ${rule}.`)),
    ...writingOf(accounts, seen),
    ...accounts.map(budgetOf),
    ...(seen && Math.abs(seen.clockAheadMs) > clocksDifferMs ? [simulatedClock] : accounts.map(clockOf)),
  ];
}

/** `idle`: what an account without a guarded mailbox is. */
function apiOf(account: OnlineAccount, idle: 'problem' | 'warning'): readonly Examined[] {
  const { account: name, failure, selected } = account;
  const said = `Account ${name}: ${headline(account)}.`;
  if (failure !== null || isUnjudged(account)) return [api('problem', said)];
  const refused = account.refused.map((one) => api('warning', `Account ${name}: ${sentence(one.said)}`));
  const cut = account.cut === null ? [] : [api('warning', `Account ${name}: ${sentence(account.cut)}`)];
  const idleRules = account.idleRules.map((rule) => api('warning', `Account ${name}: ${rule}.`));
  const none = `${said} No mailbox of this account is guarded: ${selectMore(account)}.`;
  const overlap =
    account.guardedElsewhere.length > 0
      ? [api('warning', `Account ${name}: ${overlapText(account.guardedElsewhere)}.`)]
      : [];
  return [selected === 0 ? api(idle, none) : api('ok', said), ...overlap, ...idleRules, ...refused, ...cut];
}

/** Findings of the running daemon about accounts whose API refuses the statistics or the warm-up. */
function judgingOf(seen: SeenDaemon | null): readonly Examined[] {
  return (seen?.fleet.accounts ?? []).flatMap(({ name, judging_failure: failure = null }) =>
    failure === null ? [] : [api('problem', `Account ${name}: NOT GUARDED, ${noneJudged}: ${sentence(failure)}`)],
  );
}

/** What is known of the right to write: how the API answered the last write of the running daemon. */
function writingOf(accounts: readonly OnlineAccount[], seen: SeenDaemon | null): readonly Examined[] {
  const states = new Map(seen?.fleet.accounts.map((state) => [state.name, state]));
  const known = accounts.flatMap(({ account }) => {
    const { writable = null, last_write_at: lastAt = null } = states.get(account) ?? {};
    if (seen && writable === null && lastAt !== null) return [api('ok', wroteEarlier(account, lastAt, seen))];
    if (writable === null) return [];
    if (writable) return [api('ok', `Account ${account}: the API let a write of the daemon through.`)];
    const said = `Account ${account} refuses writes, so Warmwarden does not act on breaches there: give its key the permission to write.`;
    return [api('problem', said)];
  });
  if (known.length === accounts.length) return known;
  const which = known.length > 0 ? 'any other key' : 'a key';
  const why =
    'is not known yet, and cannot be checked without writing: the first action shows it (alert key_read_only)';
  return [...known, api('skipped', `Whether ${which} may write ${why}.`)];
}

function wroteEarlier(account: string, at: string, { fleet }: SeenDaemon): string {
  return `Account ${account}: the API let the last write through on ${momentIn(fleet.time_zone)(at)}. The daemon's next action shows whether the key may still write.`;
}

function budgetOf({ account, forecast, selected }: OnlineAccount): Examined {
  if (forecast === null || selected === 0) return budget('skipped', `Account ${account}: no mailbox is known.`);
  const sum = `Account ${account}: ${sumText(forecast)}.`;
  return forecast.fits ? budget('ok', sum) : budget('warning', `${sum} ${mendText(forecast)}`);
}

function clockOf({ account, failure, clockAheadMs }: OnlineAccount): Examined {
  if (clockAheadMs === null) {
    const why = failure === null ? 'does not report the time' : 'did not answer with the time';
    return clock('skipped', `The mailbox API of account ${account} ${why}.`);
  }
  const span = spanText(Math.abs(clockAheadMs));
  if (Math.abs(clockAheadMs) <= clocksDifferMs)
    return clock('ok', `The clock of this machine agrees with the mailbox API of account ${account}.`);
  const where = clockAheadMs > 0 ? 'ahead of' : 'behind';
  return clock(
    'warning',
    `The clock of this machine is ${span} ${where} the clock of the mailbox API of account ${account}. Synchronize it (\`timedatectl\` shows whether it is synchronized).`,
  );
}
