// Every kind of channel with its receiver on loopback, which can be away or want no more.
import { type ChannelSettings, channelSettings, createChannel } from '../../src/channels/channels.ts';
import type { World } from '../../src/world/world.ts';
import { people } from '../channels/people.ts';
import { MailServer } from '../support/mail-server.ts';
import { routingKey } from '../support/strict-receivers.ts';
import { startReceiver } from './receiver.ts';
import { secret } from './rig.ts';

/** works: it takes everything. away: 503, or 421. gone: 410, or 550. */
export type Mood = 'works' | 'away' | 'gone';

export interface Outside extends AsyncDisposable {
  readonly settings: ChannelSettings;
  mood(mood: Mood): void;
  /** What was taken, in order, as text. */
  taken(): readonly string[];
  /** How often it was asked for something. */
  attempts(): number;
}

export const channelKinds = ['slack', 'webhook', 'http', 'telegram', 'email', 'pagerduty', 'teams', 'discord'] as const;
export type ChannelKind = (typeof channelKinds)[number];

export const channelFor = ({ settings }: Outside, world: World) => createChannel(settings, { world, ...people });

const statusOf = { works: 200, away: 503, gone: 410 } as const;
const smtpAnswerOf = { works: null, away: '421 4.3.2 Away', gone: '550 5.7.1 Gone' } as const;

export const openOutside = (kind: ChannelKind): Promise<Outside> =>
  kind === 'email' ? mailOutside() : httpOutside(kind);

async function httpOutside(kind: Exclude<ChannelKind, 'email'>): Promise<Outside> {
  const receiver = await startReceiver();
  let status: number = statusOf.works;
  const good: string[] = [];
  receiver.answer = (response, { headers, body }) => {
    if (status === statusOf.works) good.push(`${headers['webhook-id'] ?? ''} ${body}`);
    response.writeHead(status).end('{"ok":true}');
  };
  const own = {
    ...{ slack: {}, http: {}, teams: {}, discord: {}, webhook: { secret } },
    ...{ telegram: { token: '123456:ABC-DEFGHIJ', chat_id: 1 }, pagerduty: { routing_key: routingKey } },
  }[kind];
  return {
    settings: channelSettings.parse({ name: kind, type: kind, url: receiver.url, ...own }) as ChannelSettings,
    mood: (mood) => {
      status = statusOf[mood];
    },
    taken: () => good,
    attempts: () => receiver.received.length,
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}

async function mailOutside(): Promise<Outside> {
  const server = await MailServer.start();
  const from = 'alerts@acme.example';
  const letters = { from, to: ['ops@acme.example'], allowPlain: false, ca: null };
  return {
    settings: { name: 'email', type: 'email', url: server.url(), ...letters },
    mood: (mood) => {
      server.answer = (step) => (step === 'from' ? smtpAnswerOf[mood] : null);
    },
    taken: () => server.received.map(({ mail }) => `${mail.subject}\n${mail.text}`),
    attempts: () => server.attempts,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
