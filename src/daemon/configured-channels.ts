// The channels as the configuration has them.
import { isDeepStrictEqual } from 'node:util';
import type { Channel } from '../channels/channel.ts';
import { createChannel } from '../channels/channels.ts';
import type { ChannelConfig } from '../config/config.ts';
import type { Opened } from './open.ts';

export class ConfiguredChannels {
  readonly #opened: Pick<Opened, 'world' | 'live'>;
  readonly #pageUrl: string;
  #made: readonly { readonly config: ChannelConfig; readonly channel: Channel }[] = [];

  constructor(opened: Pick<Opened, 'world' | 'live'>, pageUrl: string) {
    this.#opened = opened;
    this.#pageUrl = pageUrl;
  }

  /** As they are configured now. One that has not changed stays the same object, so its loop is left alone. */
  as(wanted: readonly ChannelConfig[]): readonly Channel[] {
    this.#made = wanted.map(
      (config) =>
        this.#made.find((one) => isDeepStrictEqual(one.config, config)) ?? { config, channel: this.#make(config) },
    );
    return this.#made.map(({ channel }) => channel);
  }

  #make(config: ChannelConfig): Channel {
    const { world, live } = this.#opened;
    const timeZone = () => live.config.alerts.rules.timeZone;
    return createChannel(config, { world, pageUrl: this.#pageUrl, publicUrl: live.config.server.publicUrl, timeZone });
  }
}
