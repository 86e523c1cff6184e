// The configured channels, each made by its own file. A new type of channel is one line here.
import type { Clock } from '../world.ts';
import type { Channel } from './channel.ts';
import { type SlackSettings, slackChannel } from './slack.ts';
import { type WebhookSettings, webhookChannel } from './webhook.ts';

export type ChannelSettings =
  | ({ readonly type: 'slack' } & SlackSettings)
  | ({ readonly type: 'webhook' } & WebhookSettings);

export function createChannels(settings: readonly ChannelSettings[], clock: Clock): readonly Channel[] {
  return settings.map((one) => (one.type === 'slack' ? slackChannel(one, clock) : webhookChannel(one, clock)));
}
