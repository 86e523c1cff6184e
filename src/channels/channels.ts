// A configured channel, made by the file of its type. A new type of channel is named in the two places here.
import type { World } from '../world.ts';
import { type AlertmanagerSettings, alertmanagerChannel } from './alertmanager.ts';
import type { Channel } from './channel.ts';
import type { PageAddresses } from './links.ts';
import { type RecipeSettings, recipeChannel } from './recipe.ts';
import { type SlackSettings, slackChannel } from './slack.ts';
import { type WebhookSettings, webhookChannel } from './webhook.ts';

export type ChannelSettings =
  | ({ readonly type: 'slack' } & Omit<SlackSettings, keyof ForPeople>)
  | ({ readonly type: 'webhook' } & Omit<WebhookSettings, 'pageUrl'>)
  | ({ readonly type: 'alertmanager' } & AlertmanagerSettings)
  | ({ readonly type: 'recipe' } & RecipeSettings);

/** What messages for people are written with. */
interface ForPeople extends PageAddresses {
  /** The zone in which people read times: an IANA name. */
  readonly timeZone: () => string;
}

interface ChannelParts extends ForPeople {
  readonly world: World;
}

/** Throws when a secret can't sign: the configuration is checked before. */
export function createChannel(settings: ChannelSettings, { world, ...people }: ChannelParts): Channel {
  switch (settings.type) {
    case 'slack':
      return slackChannel({ ...settings, ...people }, world.clock);
    case 'webhook':
      return webhookChannel({ ...settings, pageUrl: people.pageUrl }, world.clock);
    case 'alertmanager':
      return alertmanagerChannel(settings, world.clock);
    case 'recipe':
      return recipeChannel(settings, world);
  }
}
