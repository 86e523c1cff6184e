// `warmwarden run`: the daemon, until a signal ends it.
import { Command } from 'commander';
import { configOption } from './options.ts';
import { endOrRestart, isRestarted, keepReloads } from './run/process.ts';

export function runCommand(): Command {
  return new Command('run')
    .description('guard the configured mailboxes until SIGTERM or SIGINT; a second signal stops it at once')
    .addOption(configOption())
    .action(async ({ config }: { config: string }) => {
      const reloadAsked = keepReloads();
      const { guard } = await import('./run/guard.ts');
      await guard(config, reloadAsked).catch((error: unknown) => {
        if (!isRestarted()) throw error;
        process.stderr.write(`warmwarden: ${error instanceof Error ? error.message : String(error)}\n`);
        endOrRestart();
      });
    });
}
