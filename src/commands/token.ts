// `warmwarden token new`: a token for page and HTTP API, or a key for the recipe API, and the lines that let it in.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Command, Option } from 'commander';
import { commandName } from '../command-name.ts';
import { readSmallFile } from '../config/small-file.ts';
import { CommandError } from '../terminal/command-error.ts';
import { configOption, type JsonOptions, jsonOption, printJson } from './options.ts';
import { type Placing, placingOf } from './token/placing.ts';

interface TokenOptions extends JsonOptions {
  readonly config: string;
  readonly role: string;
  readonly recipeKey?: boolean;
  readonly plan?: string;
}

const tokenBytes = 32;
const roles = ['viewer', 'operator', 'scraper'];
const plans = ['pro', 'cloud', 'agency'];

export function tokenCommand(): Command {
  const make = new Command('new')
    .description('create a token; it is shown once and not stored')
    .argument('<name>', 'a name for the token; the audit log shows it')
    .addOption(
      new Option('--role <role>', 'viewer reads, operator may change things, scraper reads /metrics only')
        .choices(roles)
        .default('viewer'),
    )
    .option('--recipe-key', 'a key for the recipe API instead; the role operator may apply recipes')
    .addOption(
      new Option('--plan <plan>', 'with --recipe-key: 60, 600 or 6,000 requests a minute (default: pro)').choices(
        plans,
      ),
    )
    .addOption(configOption('where the token is to be added; the file is only read'))
    .addOption(jsonOption())
    .action(newToken);
  return new Command('token')
    .description('create tokens for the page and the HTTP API, and keys for the recipe API')
    .addCommand(make);
}

function newToken(name: string, { role, recipeKey = false, plan, config, json = false }: TokenOptions): void {
  const wrong = wrongWith(name, { role, recipeKey, plan });
  if (wrong !== null) throw new CommandError('usage', wrong);
  const token = `ww_${randomBytes(tokenBytes).toString('base64url')}`;
  const sha256 = createHash('sha256').update(token).digest('hex');
  const made = {
    name,
    kind: recipeKey ? 'recipe_key' : 'token',
    role,
    plan: recipeKey ? (plan ?? 'pro') : null,
  } as const;
  if (json) return void printJson('token new', { ...made, token, sha256 });
  const { where, lines: added } = placingIn(config, { ...made, sha256 });
  const lines = [
    `The ${recipeKey ? 'key' : 'token'}, which is not stored anywhere: ${token}`,
    `To accept it, add this to ${existsSync(config) ? config : 'the configuration'}, ${where}; then run \`${commandName} reload\`:`,
    '',
    ...added,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function wrongWith(
  name: string,
  { role, recipeKey, plan }: { readonly role: string; readonly recipeKey: boolean; readonly plan: string | undefined },
): string | null {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    return `"${name}" is not a name for a token: write 1 to 64 letters, digits, dots, dashes or underscores.`;
  if (recipeKey && role === 'scraper') return 'A recipe key has the role viewer or operator.';
  if (!recipeKey && plan !== undefined) return '--plan is for a recipe key: add --recipe-key.';
  return null;
}

interface Made {
  readonly name: string;
  readonly role: string;
  readonly plan: string | null;
  readonly sha256: string;
}

function placingIn(file: string, { name, role, plan, sha256 }: Made): Placing {
  const read = readSmallFile(file);
  const entry = `name: ${JSON.stringify(name)}, sha256: "${sha256}", role: ${role}`;
  const text = 'text' in read ? read.text : null;
  return plan === null
    ? placingOf(text, ['server', 'auth', 'tokens'], `{${entry}}`)
    : placingOf(text, ['recipes', 'api_keys'], `{${entry}, plan: ${plan}}`);
}
