// The types of channels: the settings of each, and the channel that is made from them. A new type is a file of its own,
// and is named in the four places here: types, schemas, takesDigest and createChannel.
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

const channelTypes = ['slack', 'email', 'pagerduty', 'teams', 'discord', 'webhook', 'alertmanager', 'recipe'];

/** Entry of `alerts.channels` in the configuration. */
export const channelSettings = z.discriminatedUnion(
  'type',
  [
    slackSettings,
    emailSettings,
    pagerdutySettings,
    teamsSettings,
    discordSettings,
    webhookSettings,
    alertmanagerSettings,
    recipeSettings,
  ],
  {
    error: ({ code, input }) => {
      if (code !== 'invalid_union') return undefined;
      const { type } = input as { readonly type?: unknown };
      return type === undefined ? 'is missing' : notOneOf(type, channelTypes);
    },
  },
);

/** True if a channel, in the form of the file, can send the digest because it is for people. */
export function takesDigest({ type, format }: { readonly type?: unknown; readonly format?: unknown }): boolean {
  return type === 'webhook' ? format !== 'alertmanager' : ['slack', 'email', 'teams', 'discord'].includes(String(type));
}

type Checked = z.output<typeof channelSettings>;
type WithEgress<Of> = Of extends unknown ? Omit<Of, 'allowHttp' | 'ca'> & { readonly egress?: Egress } : never;
/** Settings from which a channel is made. */
export type ChannelSettings = WithEgress<Checked>;

interface ChannelParts extends ForPeople {
  readonly world: World;
}

export function createChannel(settings: ChannelSettings, { world, ...people }: ChannelParts): Channel {
  switch (settings.type) {
    case 'slack':
      return slackChannel({ ...settings, ...people }, world.clock);
    case 'email':
      return emailChannel({ ...settings, ...people });
    case 'pagerduty':
      return pagerdutyChannel({ ...settings, ...people }, world.clock);
    case 'teams':
      return teamsChannel({ ...settings, ...people }, world.clock);
    case 'discord':
      return discordChannel({ ...settings, ...people }, world.clock);
    case 'webhook':
      return webhookChannel({ ...settings, pageUrl: people.pageUrl }, world.clock);
    case 'alertmanager':
      return alertmanagerChannel(settings, world.clock);
    case 'recipe':
      return recipeChannel(settings, world);
  }
}
