// The doctor's view of accounts, channels and the daemon. Changes nothing, and sends no message.

import { causes, ProxyError } from '../../api/http/failure.ts';
import { wayOutTo } from '../../api/http/way-out.ts';
import { createChannel } from '../../channels/channels.ts';
import { longestOf, type PingTarget, pingOf } from '../../channels/post.ts';
import type { AlertsConfig, ChannelConfig, Config } from '../../config/config.ts';
import { directly, type Egress } from '../../core/egress.ts';
import { errorText } from '../../core/nearest.ts';
import { secondMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { mendText, sumText } from '../../core/wording/forecast.ts';
import { counted, overlapText, spanText } from '../../core/wording/phrases.ts';
import { noneJudged } from '../../core/wording/states.ts';
import type { FleetAnswer } from '../../web/json/fleet.ts';
import { commandName } from '../../world/command-name.ts';
import { version } from '../../world/version.ts';
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
import { askFor } from '../daemon.ts';
import { momentIn } from '../terminal.ts';
import { type Examined, reporter } from './examined.ts';

const api = reporter('api');
const budget = reporter('budget');
const clock = reporter('clock');
/** Tolerated difference, as for the alert clock_off: longer than an answer takes. */
const clocksDifferMs = 60 * secondMs;
const simulatedClock = clock(
  'skipped',
  'The daemon on this store runs on a simulated clock, as in the demo, and not on the clock of this machine.',
);

/**
 * Examines accounts with one GET of each kind, or with two GETs an account if a daemon runs, since it reports its own
 * responses. `seen`: the daemon on the same store, which uses the same keys.
 */
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

/** Findings about the API of an account. `idle`: the result for an account without a guarded mailbox. */
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

/** Findings about the permission to write: how the API answered the last write of the running daemon. */
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
  const why = 'is not known yet, and cannot be checked without writing: the first action shows it (alert not_guarded)';
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

// Test of a connection: the name, the port, the proxy, the certificate. Sends nothing to the address.

const ports: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'smtp:': '587', 'smtps:': '465' };

/**
 * Reason why the connection failed, in words or as a code, or null if it succeeded. Does not examine the certificate of
 * an `smtps` server.
 */
export function connectionFailure(url: string, egress: Egress = directly): Promise<string | null> {
  const { connect, forward, proxy } = wayOutTo(url, egress);
  const { protocol, hostname, host, port } = new URL(forward?.origin ?? url);
  const target = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port: port || (ports[protocol] ?? '') };
  const through = proxy === null ? '' : `through the proxy ${proxy}: `;
  return new Promise((resolve) => {
    connect(target, (error, socket) => {
      socket?.destroy();
      if (error === null) return resolve(null);
      // The message of any other error contains an address, so the code is shown.
      const { code = 'unknown error' }: NodeJS.ErrnoException = error;
      resolve(`${through}${error instanceof ProxyError ? error.message : (causes[code] ?? code)}`);
    });
  });
}

const channels = reporter('channels');
type KnownChannels = FleetAnswer['channels'];

/** Examines channels. `known`: their state from the daemon or the store, or null if neither is available. */
export async function examineChannels(alerts: AlertsConfig, known: KnownChannels | null): Promise<readonly Examined[]> {
  const examined = await Promise.all(alerts.channels.map(examineChannel));
  const none = channels('skipped', 'No channel is configured: no alert will be sent.');
  return [
    ...(alerts.channels.length === 0 ? [none] : examined),
    ...(alerts.heartbeat === null ? [] : [await examineHeartbeat(alerts.heartbeat)]),
    ...(known ?? []).flatMap(backlogOf),
  ];
}

async function examineChannel(settings: ChannelConfig): Promise<Examined> {
  const world = worldOn(systemClock(), { level: 'silent', format: 'json' });
  const channel = createChannel(settings, { world, pageUrl: null, publicUrl: null, timeZone: () => 'UTC' });
  const who = `Channel ${settings.name}`;
  try {
    if (channel.check) {
      const { kind, detail } = await channel.check(AbortSignal.timeout(longestOf(channel)));
      const said = detail ? ` ${sentence(detail)}` : '';
      return kind === 'sent'
        ? channels('ok', `${who}:${said}`)
        : channels('problem', `${who} failed its check.${said}`);
    }
    if ('url' in settings)
      return reached(who, await connectionFailure(settings.url, 'egress' in settings ? settings.egress : directly));
    return channels('skipped', `${who} was not tried. ${tryIt(settings.name)}`);
  } finally {
    await channel.close?.();
  }
}

/** Pings the heartbeat: a ping is not a message, and it is the only request that the service takes from us. */
async function examineHeartbeat(to: PingTarget): Promise<Examined> {
  const { kind, detail = '', answer } = await pingOf(to, systemClock());
  return kind === 'sent'
    ? channels('ok', `The heartbeat was pinged: the receiver answered ${answer?.status}.`)
    : channels('problem', sentence(`The heartbeat does not get through: ${detail}`));
}

function tryIt(name: string): string {
  return `To send a test message: \`${commandName} channels test ${name}\`.`;
}

function reached(who: string, failure: string | null): Examined {
  if (failure === null) return channels('ok', `${who}: the receiver accepts connections. No message was sent.`);
  return channels('problem', `${who}: the receiver cannot be reached (${failure}).`);
}

function backlogOf({
  name,
  undelivered,
  failing_since: since,
  last_failure: why,
}: KnownChannels[number]): readonly Examined[] {
  const resend = `\`${commandName} channels resend ${name}\` sends them again`;
  return [
    ...(since === null
      ? []
      : [channels('problem', `Channel ${name} has been failing since ${since}${why ? `: ${why}` : '.'}`)]),
    ...(undelivered === 0
      ? []
      : [channels('warning', `Channel ${name} has ${counted(undelivered, 'undelivered message')}: ${resend}.`)]),
  ];
}

const daemon = reporter('daemon');

export interface SeenDaemon {
  readonly fleet: FleetAnswer;
  readonly version: string;
  /** Time by which the daemon's clock is ahead of this machine's: only a simulated clock, as in the demo, differs. */
  readonly clockAheadMs: number;
}

/** Answers of a store's daemon, or why none answers. */
export async function seeDaemon(storePath: string): Promise<SeenDaemon | { readonly absence: string }> {
  try {
    const fleet = (await askFor(storePath, 'fleet')) as FleetAnswer;
    const { version: told } = (await askFor(storePath, 'version')) as { readonly version: string };
    return { fleet, version: told, clockAheadMs: Date.parse(fleet.at) - systemClock().now() };
  } catch (error) {
    return { absence: errorText(error) };
  }
}

/**
 * Findings about the daemon. `active`: findings of the store about the active process on another machine, or null if
 * there can be none.
 */
export function examineDaemon(
  seen: SeenDaemon | { readonly absence: string },
  active: readonly Examined[] | null = null,
): readonly Examined[] {
  if ('absence' in seen) return active ?? [daemon('warning', seen.absence.replaceAll('\n', ' '))];
  const { fleet, version: told } = seen;
  const other = `The daemon is version ${told}, and this command is version ${version}: restart the daemon.`;
  return [
    saidBy(fleet),
    ...(told === version ? [] : [daemon('warning', other)]),
    ...fleet.writes_off.map(({ reason, allow_with: command }) =>
      daemon('warning', `Writes are off (${reason}). To allow them again: \`${command}\`.`),
    ),
  ];
}

/**
 * Finding with the daemon's headline. The advice refers to lines on the page and in `status`, so it is quoted only for
 * a failure of the store.
 */
function saidBy({ headline, advice, tone, store_failure: failure }: FleetAnswer): Examined {
  const said = `A daemon runs on this store. It says: ${headline}`;
  if (failure) return daemon('problem', `${said} ${advice}`);
  if (tone === 'calm' || tone === 'acted') return daemon('ok', said);
  return daemon('warning', `${said} To see what to do: \`${commandName} status\`.`);
}
