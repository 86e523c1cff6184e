// `warmwarden __alive`: whether the daemon of a configuration answers; for health checks of containers. Asked over the socket
// beside the store, so it holds whatever `server` says about addresses, TLS and tokens.
import { Command } from 'commander';
import { configOption } from './options.ts';
import { askFor } from './sources/daemon-client.ts';
import { findStore } from './sources/loading.ts';

export function aliveCommand(): Command {
  return new Command('__alive').addOption(configOption()).action(async ({ config }: { readonly config: string }) => {
    await askFor(findStore(config), 'version');
  });
}
