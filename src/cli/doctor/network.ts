// The doctor's view of the channels and the daemon. Changes nothing, and sends no message.

import { causes, ProxyError } from '../../api/http/failure.ts';
import { wayOutTo } from '../../api/http/way-out.ts';
import { createChannel } from '../../channels/channels.ts';
import { longestOf, type PingTarget, pingOf } from '../../channels/post.ts';
import type { AlertsConfig, ChannelConfig } from '../../config/config.ts';
import { directly, type Egress } from '../../core/egress.ts';
import { errorText } from '../../core/nearest.ts';
import { sentence } from '../../core/wording/explain.ts';
import { counted } from '../../core/wording/phrases.ts';
import type { FleetAnswer } from '../../web/json/fleet.ts';
import { version } from '../../world/program.ts';
import { systemClock, worldOn } from '../../world/world.ts';
import { askFor } from '../daemon.ts';
import { type Examined, reporter } from './examined.ts';

// Test of a connection: the name, the port, the proxy, the certificate. Sends nothing to the address.

const ports: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'smtp:': '587', 'smtps:': '465' };

/** Reason why the connection failed, or null if it succeeded. Ignores the certificate of an `smtps` server. */
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
    if (!('url' in settings)) {
      const command = `warmwarden channels test ${settings.name}`;
      return channels('skipped', `${who} was not tried. To send a test message: \`${command}\`.`);
    }
    const failure = await connectionFailure(settings.url, 'egress' in settings ? settings.egress : directly);
    return failure === null
      ? channels('ok', `${who}: the receiver accepts connections. No message was sent.`)
      : channels('problem', `${who}: the receiver cannot be reached (${failure}).`);
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

function backlogOf({
  name,
  type,
  undelivered,
  failing_since: since,
  last_failure: why,
}: KnownChannels[number]): readonly Examined[] {
  const resend =
    type === 'removed' ? 'it is no longer configured' : `\`warmwarden channels resend ${name}\` sends them again`;
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

export async function seeDaemon(storePath: string): Promise<SeenDaemon | { readonly absence: string }> {
  try {
    const fleet = (await askFor(storePath, 'fleet')) as FleetAnswer;
    const { version: told } = (await askFor(storePath, 'version')) as { readonly version: string };
    return { fleet, version: told, clockAheadMs: Date.parse(fleet.at) - systemClock().now() };
  } catch (error) {
    return { absence: errorText(error) };
  }
}

/** `active`: findings of the store about the active process on another machine, or null if there can be none. */
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

/** The advice refers to lines on the page and in `status`, so only a failure of the store quotes it. */
function saidBy({ headline, advice, tone, store_failure: failure }: FleetAnswer): Examined {
  const said = `A daemon runs on this store. It says: ${headline}`;
  if (failure) return daemon('problem', `${said} ${advice}`);
  if (tone === 'calm' || tone === 'acted') return daemon('ok', said);
  return daemon('warning', `${said} To see what to do: \`warmwarden status\`.`);
}
