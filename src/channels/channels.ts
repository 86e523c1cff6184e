// A configured channel, made by the file of its type. A new type of channel is named in the two places here.
import type { World } from '../world/world.ts';
import { type AlertmanagerSettings, alertmanagerChannel } from './alertmanager.ts';
import type { Channel } from './channel.ts';
import { type DiscordSettings, discordChannel } from './discord.ts';
import { type EmailSettings, emailChannel } from './email.ts';
import type { ForPeople } from './message-text.ts';
import { type PagerDutySettings, pagerdutyChannel } from './pagerduty.ts';
import { type RecipeSettings, recipeChannel } from './recipe.ts';
import { type SlackSettings, slackChannel } from './slack.ts';
import { type TeamsSettings, teamsChannel } from './teams.ts';
import { type WebhookSettings, webhookChannel } from './webhook.ts';

export type ChannelSettings =
  | ({ readonly type: 'slack' } & Omit<SlackSettings, keyof ForPeople>)
  | ({ readonly type: 'email' } & Omit<EmailSettings, keyof ForPeople>)
  | ({ readonly type: 'pagerduty' } & Omit<PagerDutySettings, keyof ForPeople>)
  | ({ readonly type: 'teams' } & Omit<TeamsSettings, keyof ForPeople>)
  | ({ readonly type: 'discord' } & Omit<DiscordSettings, keyof ForPeople>)
  | ({ readonly type: 'webhook' } & Omit<WebhookSettings, 'pageUrl'>)
  | ({ readonly type: 'alertmanager' } & AlertmanagerSettings)
  | ({ readonly type: 'recipe' } & RecipeSettings);

interface ChannelParts extends ForPeople {
  readonly world: World;
}

/** Throws when a secret can't sign: the configuration is checked before. */
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
