// `warmwarden token new`: creates a token for page and HTTP API, or a key for the recipe API, and prints the
// configuration lines that accept it.
import { createHash, randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import { keyPlanNames } from '../core/recipe.ts';
import { CommandError } from './errors.ts';
import { type JsonOptions, jsonOption, printJson } from './options.ts';

interface TokenOptions extends JsonOptions {
  readonly role: string;
  readonly recipeKey?: boolean;
  readonly plan?: string;
  readonly tag?: readonly string[];
  readonly account?: readonly string[];
}

const tokenBytes = 32;
const roles = ['viewer', 'operator', 'scraper'];
const closesPage = 'With the first token, the page asks everybody for one: you need one with --role operator.';

export function tokenCommand(): Command {
  const make = new Command('new')
    .description('create a token; it is shown once and not stored')
    .argument('<name>', 'a name for the token; the audit log shows it')
    .addOption(
      new Option('--role <role>', 'viewer reads, operator changes things, scraper reads /metrics')
        .choices(roles)
        .default('viewer'),
    )
    .option('--tag <glob...>', 'with the role viewer: shows only mailboxes with these tags, such as client=north')
    .option('--account <glob...>', 'with the role viewer: shows only these accounts')
    .option('--recipe-key', 'a key for the recipe API; the role operator may apply recipes')
    .addOption(
      new Option('--plan <plan>', 'with --recipe-key: 60, 600 or 6,000 requests a minute (default: pro)').choices(
        keyPlanNames,
      ),
    )
    .addOption(jsonOption())
    .action(newToken);
  return new Command('token')
    .description('create tokens for the page and the HTTP API, and keys for the recipe API')
    .addCommand(make);
}

function newToken(name: string, options: TokenOptions): void {
  const { role, recipeKey = false, plan, tag, account, json = false } = options;
  const wrong = wrongWith(name, options);
  if (wrong !== null) throw new CommandError('usage', wrong);
  const token = `ww_${randomBytes(tokenBytes).toString('base64url')}`;
  const sha256 = createHash('sha256').update(token).digest('hex');
  const made = {
    name,
    kind: recipeKey ? 'recipe_key' : 'token',
    role,
    plan: recipeKey ? (plan ?? 'pro') : null,
    tags: tag ?? null,
    accounts: account ?? null,
  } as const;
  if (json) return void printJson('token new', { ...made, token, sha256 });
  const limits = Object.entries({ tags: tag, accounts: account }).flatMap(([key, globs]) =>
    globs ? [`, ${key}: ${JSON.stringify(globs)}`] : [],
  );
  const entry = `name: "${name}", sha256: "${sha256}", role: ${role}${limits.join('')}`;
  const lines = recipeKey
    ? ['recipes:', '  api_keys:', `    - {${entry}, plan: ${made.plan}}`]
    : ['server:', '  auth:', '    tokens:', `      - {${entry}}`];
  const said = [
    `The ${recipeKey ? 'key' : 'token'}, which is not stored anywhere: ${token}`,
    'To accept it, add these lines to the configuration, without the keys that it has already; then run `warmwarden reload`:',
    '',
    ...lines,
    ...(recipeKey || role === 'operator' ? [] : ['', closesPage]),
  ];
  process.stdout.write(`${said.join('\n')}\n`);
}

function wrongWith(name: string, { role, recipeKey = false, plan, tag, account }: TokenOptions): string | null {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    return `"${name}" is not a name for a token: write 1 to 64 letters, digits, dots, dashes or underscores.`;
  if (recipeKey && role === 'scraper') return 'A recipe key has the role viewer or operator.';
  if ((tag ?? account) && (recipeKey || role !== 'viewer'))
    return '--tag and --account are for a token with the role viewer.';
  if (!recipeKey && plan !== undefined) return '--plan is for a recipe key: add --recipe-key.';
  return null;
}
