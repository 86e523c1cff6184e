// The types of channels. A new type is an entry in presets.ts, or a file of its own with a line here.
import { z } from 'zod';
import type { Egress } from '../core/egress.ts';
import { listText } from '../core/wording/phrases.ts';
import { notOneOf, secretsAmong } from '../world/schema/section.ts';
import type { Clock, World } from '../world/world.ts';
import { alertmanagerChannel, alertmanagerSettings } from './alertmanager.ts';
import type { Channel, SendResult } from './channel.ts';
import { discordChannel, discordSecret, discordSettings } from './discord.ts';
import { emailChannel, emailSecret, emailSettings } from './email.ts';
import { httpChannel, httpSettings } from './http.ts';
import type { ForPeople } from './message-text.ts';
import { pagerdutyChannel, pagerdutySettings } from './pagerduty.ts';
import { presets } from './presets.ts';
import { recipeChannel, recipeSettings } from './recipe.ts';
import { slackChannel, slackSecret, slackSettings } from './slack.ts';
import { teamsChannel, teamsSecret, teamsSettings } from './teams.ts';
import { webhookChannel, webhookSecret, webhookSettings } from './webhook.ts';

interface ChannelType<Schema extends z.ZodType> {
  readonly settings: Schema;
  readonly create: (settings: WithEgress<z.output<Schema>> & ForPeople, clock: Clock, world: World) => Channel;
  /** Pattern of the secret that its address or key contains, wherever that is written. */
  readonly secretShape?: RegExp;
  /** False if renderNotice() returns null for the digest. */
  readonly hasDigest?: false;
}

function channelType<Schema extends z.ZodType>(type: ChannelType<Schema>): ChannelType<Schema> {
  return type;
}

const types = {
  slack: channelType({ settings: slackSettings, create: slackChannel, secretShape: slackSecret }),
  email: channelType({
    settings: emailSettings,
    create: (settings) => emailChannel(settings),
    secretShape: emailSecret,
  }),
  pagerduty: channelType({ settings: pagerdutySettings, create: pagerdutyChannel, hasDigest: false }),
  teams: channelType({ settings: teamsSettings, create: teamsChannel, secretShape: teamsSecret }),
  discord: channelType({ settings: discordSettings, create: discordChannel, secretShape: discordSecret }),
  ...presets,
  http: channelType({ settings: httpSettings, create: httpChannel }),
  webhook: channelType({ settings: webhookSettings, create: webhookChannel, secretShape: webhookSecret }),
  alertmanager: channelType({ settings: alertmanagerSettings, create: alertmanagerChannel, hasDigest: false }),
  recipe: channelType({
    settings: recipeSettings,
    create: (settings, _clock, world) => recipeChannel(settings, world),
    hasDigest: false,
  }),
};
type Traits = Pick<ChannelType<z.ZodType>, 'secretShape' | 'hasDigest'> & { readonly settings: AnySettings };
const traits: Readonly<Record<string, Traits>> = types;
type AnySettings = (typeof types)[keyof typeof types]['settings'];
const typeNames = Object.keys(types);
/** Patterns of the secrets of every type. */
export const channelSecrets = Object.values(traits).flatMap(({ secretShape }) => secretShape ?? []);
const [first, ...others] = Object.values(types).map(({ settings }): AnySettings => settings);

export const channelSettings = z.discriminatedUnion('type', [first as AnySettings, ...others], {
  error: ({ code, input }) => {
    if (code !== 'invalid_union') return undefined;
    const { type } = input as { readonly type?: unknown };
    return type === undefined ? 'is missing' : notOneOf(type, typeNames);
  },
});

const withoutDigest = Object.entries(traits).flatMap(([name, { hasDigest = true }]) => (hasDigest ? [] : [name]));
/** The channels that are not takesDigest(), in words. */
export const digestless = listText(withoutDigest);

export function takesDigest({ type }: { readonly type?: unknown }): boolean {
  return !withoutDigest.some((one) => one === type);
}

type WithEgress<Of> = Of extends unknown ? Omit<Of, 'allowHttp' | 'ca'> & { readonly egress?: Egress } : never;
export type ChannelSettings = WithEgress<z.output<typeof channelSettings>>;

interface ChannelParts extends ForPeople {
  readonly world: World;
}

/** The channel. What it reports of an answer has none of its secrets, which a receiver may quote. */
export function createChannel(settings: ChannelSettings, { world, ...people }: ChannelParts): Channel {
  const { create } = types[settings.type] as ChannelType<z.ZodType<ChannelSettings>>;
  const channel = create({ ...settings, ...people }, world.clock, world);
  const secrets = secretsAmong(settings);
  return {
    ...channel,
    send: async (delivery, signal) => withoutSecrets(await channel.send(delivery, signal), secrets),
  };
}

/** A shorter value is no secret: hiding it would blot out ordinary words. */
const minSecretLetters = 6;

function withoutSecrets(result: SendResult, secrets: readonly string[]): SendResult {
  const long = secrets.filter(({ length }) => length >= minSecretLetters).sort((a, b) => b.length - a.length);
  const hide = (text: string) => long.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
  const { answer } = result;
  return {
    ...result,
    ...(result.detail === undefined ? {} : { detail: hide(result.detail) }),
    ...(answer === undefined ? {} : { answer: { ...answer, text: hide(answer.text) } }),
  } as SendResult;
}
