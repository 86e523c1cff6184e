// The types of channels. A new type is a file of its own, and one line in the table here.
import { z } from 'zod';
import type { Egress } from '../core/egress.ts';
import { notOneOf } from '../world/schema/section.ts';
import type { World } from '../world/world.ts';
import { alertmanagerChannel, alertmanagerSettings } from './alertmanager.ts';
import type { Channel } from './channel.ts';
import { discordChannel, discordSettings } from './discord.ts';
import { emailChannel, emailSettings } from './email.ts';
import type { ForPeople } from './message-text.ts';
import { pagerdutyChannel, pagerdutySettings } from './pagerduty.ts';
import { recipeChannel, recipeSettings } from './recipe.ts';
import { slackChannel, slackSettings } from './slack.ts';
import { teamsChannel, teamsSettings } from './teams.ts';
import { webhookChannel, webhookSettings } from './webhook.ts';

interface ChannelType<Schema extends z.ZodType> {
  readonly settings: Schema;
  readonly create: (settings: WithEgress<z.output<Schema>> & ForPeople, world: World) => Channel;
}

function channelType<Schema extends z.ZodType>(
  settings: Schema,
  create: ChannelType<Schema>['create'],
): ChannelType<Schema> {
  return { settings, create };
}

const types = {
  slack: channelType(slackSettings, (settings, { clock }) => slackChannel(settings, clock)),
  email: channelType(emailSettings, (settings) => emailChannel(settings)),
  pagerduty: channelType(pagerdutySettings, (settings, { clock }) => pagerdutyChannel(settings, clock)),
  teams: channelType(teamsSettings, (settings, { clock }) => teamsChannel(settings, clock)),
  discord: channelType(discordSettings, (settings, { clock }) => discordChannel(settings, clock)),
  webhook: channelType(webhookSettings, (settings, { clock }) => webhookChannel(settings, clock)),
  alertmanager: channelType(alertmanagerSettings, (settings, { clock }) => alertmanagerChannel(settings, clock)),
  recipe: channelType(recipeSettings, recipeChannel),
};
type AnySettings = (typeof types)[keyof typeof types]['settings'];
const typeNames = Object.keys(types);
const [first, ...others] = Object.values(types).map(({ settings }): AnySettings => settings);

export const channelSettings = z.discriminatedUnion('type', [first as AnySettings, ...others], {
  error: ({ code, input }) => {
    if (code !== 'invalid_union') return undefined;
    const { type } = input as { readonly type?: unknown };
    return type === undefined ? 'is missing' : notOneOf(type, typeNames);
  },
});

const withoutDigest = ['pagerduty', 'alertmanager', 'recipe'];
const withDigest = typeNames.filter((name) => !withoutDigest.includes(name));
/** The channels of takesDigest() in words. */
export const digestChannels = `${withDigest.join(', ')} (a webhook with format standard)`;

export function takesDigest({ type, format }: { readonly type?: unknown; readonly format?: unknown }): boolean {
  return withDigest.some((one) => one === type) && format !== 'alertmanager';
}

type WithEgress<Of> = Of extends unknown ? Omit<Of, 'allowHttp' | 'ca'> & { readonly egress?: Egress } : never;
export type ChannelSettings = WithEgress<z.output<typeof channelSettings>>;

interface ChannelParts extends ForPeople {
  readonly world: World;
}

export function createChannel(settings: ChannelSettings, { world, ...people }: ChannelParts): Channel {
  const { create } = types[settings.type] as ChannelType<z.ZodType<ChannelSettings>>;
  return create({ ...settings, ...people }, world);
}
