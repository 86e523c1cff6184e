// `warmwarden keys new`: a key for the recipe API, and the lines that let it in.
import { createHash, randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import { commandName } from '../command-name.ts';
import { exitUsage } from './exit-codes.ts';

interface KeyOptions {
  readonly plan: string;
  readonly role: string;
  readonly json?: boolean;
}

const keyBytes = 32;

export function keysCommand(): Command {
  const make = new Command('new')
    .description('make a key; it is printed once and kept nowhere')
    .argument('<name>', 'whose key it is')
    .addOption(new Option('--plan <plan>', 'requests a minute').choices(['pro', 'cloud', 'agency']).default('pro'))
    .addOption(new Option('--role <role>', 'an operator may apply').choices(['viewer', 'operator']).default('viewer'))
    .option('--json', 'for programs')
    .action(newKey);
  return new Command('keys').description('keys for the recipe API').addCommand(make);
}

function newKey(name: string, { plan, role, json = false }: KeyOptions): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    process.stderr.write(`warmwarden: "${name}" must be 1 to 64 letters, digits, dots, dashes or underscores\n`);
    process.exitCode = exitUsage;
    return;
  }
  const key = `ww_${randomBytes(keyBytes).toString('base64url')}`;
  const sha256 = createHash('sha256').update(key).digest('hex');
  const lines = json
    ? [JSON.stringify({ name, key, sha256, plan, role })]
    : [
        `The key, which is kept nowhere: ${key}`,
        `To let it in, add this to the configuration, then \`${commandName} reload\`:`,
        '',
        'recipes:',
        '  api_keys:',
        `    - {name: ${JSON.stringify(name)}, sha256: "${sha256}", plan: ${plan}, role: ${role}}`,
      ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
