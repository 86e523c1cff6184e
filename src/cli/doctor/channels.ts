// The channels, without sending a message: what their own check says, else whether a connection comes about; and what waits for them.
// The heartbeat is pinged.

import { causes, ProxyError } from '../../api/http/failure.ts';
import { wayOutTo } from '../../api/http/way-out.ts';
import { createChannel } from '../../channels/channels.ts';
import { longestOf, type PingTarget, pingOf } from '../../channels/post.ts';
import type { AlertsConfig, ChannelConfig } from '../../config/config.ts';
import { directly, type Egress } from '../../core/egress.ts';
import { sentence } from '../../core/wording/explain.ts';
import { counted } from '../../core/wording/phrases.ts';
import type { FleetAnswer } from '../../web/json/fleet.ts';
import { commandName } from '../../world/command-name.ts';
import { systemClock, worldOn } from '../../world/world.ts';
import { type Examined, reporter } from './examined.ts';

// Whether a connection to an address comes about: the name, the port, the proxy, the certificate. Nothing is sent to the address.

const ports: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'smtp:': '587', 'smtps:': '465' };

/** null when it came about; else why not, in words or as a code. Of an `smtps` server, the certificate is not looked at. */
export function connectionFailure(url: string, egress: Egress = directly): Promise<string | null> {
  const { connect, forward, proxy } = wayOutTo(url, egress);
  const { protocol, hostname, host, port } = new URL(forward?.origin ?? url);
  const target = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port: port || (ports[protocol] ?? '') };
  const through = proxy === null ? '' : `through the proxy ${proxy}: `;
  return new Promise((resolve) => {
    connect(target, (error, socket) => {
      socket?.destroy();
      if (error === null) return resolve(null);
      // Not the message of another error, which carries an address.
      const { code = 'unknown error' }: NodeJS.ErrnoException = error;
      resolve(`${through}${error instanceof ProxyError ? error.message : (causes[code] ?? code)}`);
    });
  });
}

const channels = reporter('channels');
type Known = FleetAnswer['channels'];

/** `known`: what the daemon, or the store, says of them; null where neither is. */
export async function examineChannels(alerts: AlertsConfig, known: Known | null): Promise<readonly Examined[]> {
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

/** A ping is no message, and its service knows nothing else of us. */
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

function backlogOf({ name, undelivered, failing_since: since, last_failure: why }: Known[number]): readonly Examined[] {
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
